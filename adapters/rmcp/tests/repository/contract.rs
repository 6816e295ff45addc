//! Shows what has changed in a new version of rmcp.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The version that all tests have passed with. After an update, run them, and then change it.
const PASSED_WITH: &str = "3.11.0";

/// Returns the version of rmcp that was compiled, and the folder of its sources.
fn rmcp() -> (String, PathBuf) {
    let host = run("rustc", &["--print", "host-tuple"]);
    // For this platform only: cargo has not downloaded all packages of others.
    let filter = ["--offline", "--filter-platform", host.trim()];
    let args = [&["metadata", "--format-version", "1"][..], &filter].concat();
    let metadata: Value = serde_json::from_str(&run(env!("CARGO"), &args)).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let rmcp = packages.find(|package| package["name"] == "rmcp").unwrap();
    let manifest = Path::new(rmcp["manifest_path"].as_str().unwrap());
    let version = rmcp["version"].as_str().unwrap();
    (version.into(), manifest.with_file_name("src"))
}

fn run(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    let command = command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn source(root: &Path, file: &str) -> String {
    std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| {
        panic!("rmcp has moved {file}, where this test looks for a hook: {error}")
    })
}

#[test]
fn this_is_the_version_that_passed() {
    let (version, _) = rmcp();
    assert_eq!(
        version, PASSED_WITH,
        "rmcp {version} is new here: see that all tests pass, then set PASSED_WITH"
    );
}

#[test]
fn the_handler_has_no_method_that_is_not_passed_on() {
    let (version, root) = rmcp();
    let handler = source(&root, "handler/server.rs");
    let passed_on = include_str!("../../src/handler/sdk.rs");
    let methods = handler
        .lines()
        .filter_map(|line| line.strip_prefix("        fn ")?.split('(').next());
    let mut seen = 0;
    for name in methods {
        seen += 1;
        // As a row of a macro, or written in full.
        let rows = ["        ", "    fn ", "    async fn "].map(|row| format!("{row}{name}("));
        assert!(
            rows.iter().any(|row| passed_on.contains(row)),
            "rmcp {version} has {name} in ServerHandler, whose default would answer in place of \
             the server inside: pass it on in src/handler/sdk.rs"
        );
    }
    assert_eq!(
        seen, 32,
        "rmcp {version} writes the methods of ServerHandler in another way"
    );
}

/// What src/handler relies on: what a file of rmcp has, and how often.
#[test]
fn its_sources_have_what_they_had() {
    let (version, root) = rmcp();
    let (model, mrtr, tool) = ("model.rs", "model/mrtr.rs", "handler/server/router/tool.rs");
    let hidden = "pub struct SubscriptionContext {\n    request: RequestContext<RoleServer>,";
    for (file, text, times) in [
        // All that carries a state or a cursor: params.rs, results.rs.
        (model, "pub request_state: Option<String>", 3),
        (mrtr, "pub request_state: Option<String>", 1),
        (model, "pub cursor: Option<", 2),
        (model, "pub next_cursor: Option<", 1),
        (mrtr, "    InputRequired(InputRequiredResult)", 3),
        // An empty result has no members: results.rs.
        (model, "pub struct EmptyObject {}", 1),
        // Only these errors become tool results, and a refusal of `State` leaves as a JSON-RPC error: state.rs.
        (tool, "(TOOL_ARGUMENT_DESERIALIZATION_ERROR_PREFIX)", 1),
        // Its session cannot be looked at: `listen` in sdk.rs.
        ("service/server.rs", hidden, 1),
    ] {
        let found = source(&root, file).matches(text).count();
        assert_eq!(
            found, times,
            "rmcp {version} has changed: `{text}` in {file}"
        );
    }
    // Three of what a server asks, and seven of what it answers.
    let kinds = source(&root, mrtr);
    let kinds = kinds.lines().filter_map(|line| line.strip_prefix("    "));
    let kinds = kinds.filter(|it| it.starts_with(char::is_uppercase) && it.ends_with("),"));
    assert_eq!(
        kinds.count(),
        10,
        "rmcp {version} has another kind of an answer: see src/handler/results.rs"
    );
}

#[test]
fn no_member_of_a_request_has_another_name() {
    let (version, root) = rmcp();
    let folder = std::fs::read_dir(root.join("model")).unwrap();
    let files = folder.map(|file| file.unwrap().path());
    let texts = files.chain([root.join("model.rs")]);
    let text: String = texts
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    // This one is in the schema of an elicitation, which the server sends.
    let others = text.replace(r#"rename = "anyOf", alias = "oneOf""#, "");
    assert!(
        !others.contains("alias = \""),
        "rmcp {version} reads a member by another name: is it one that carries a token?"
    );
}

#[test]
fn a_list_drops_a_cursor_that_is_no_text_and_a_call_falls_back_to_custom() {
    use rmcp::model::ClientRequest;
    let parsed = |json: &str| serde_json::from_str::<ClientRequest>(json).unwrap();
    let call = r#"{"method":"tools/call","params":{"name":"x","requestState":5}}"#;
    assert!(
        matches!(parsed(call), ClientRequest::CustomRequest(_)),
        "rmcp reads a tools/call whose requestState is a number in another way: see src/handler/params.rs"
    );
    let list = r#"{"method":"tools/list","params":{"cursor":5}}"#;
    assert!(
        matches!(parsed(list), ClientRequest::ListToolsRequest(list) if list.params.is_none()),
        "rmcp keeps a cursor that is a number: it can be refused now, see src/handler/params.rs"
    );
}

/// Or src/transport need not put it there.
#[test]
fn a_session_has_no_other_place_in_rmcps_types() {
    use rmcp::model::{ClientJsonRpcMessage, InitializeResult, ServerCapabilities};
    fn kept<T: Serialize + DeserializeOwned>(told: Value) -> Value {
        json!(serde_json::from_value::<T>(told).unwrap())
    }
    let told = kept::<ServerCapabilities>(json!({"sessions": {}}));
    assert!(told["sessions"].is_null(), "{told}");
    let begun = kept::<InitializeResult>(json!({"protocolVersion": "2025-11-25",
        "capabilities": {}, "serverInfo": {"name": "n", "version": "1"}, "sessionId": "s"}));
    assert!(begun["sessionId"].is_null(), "{begun}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "sessionId": "s"});
    let ping = kept::<ClientJsonRpcMessage>(ping);
    assert!(ping["sessionId"].is_null(), "{ping}");
}
