//! Shows what has changed in a new version of rmcp.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The version that all tests have passed with. After an update, run them, and then change it.
const PASSED_WITH: &str = "3.11.0";

/// Returns the version of rmcp that was compiled, and the folder of its sources.
fn rmcp() -> (String, PathBuf) {
    let host = run("rustc", &["--print", "host-tuple"]);
    // For this platform only: cargo has not downloaded all packages of others.
    let filter = ["--offline", "--filter-platform", host.trim()];
    let output = run(
        env!("CARGO"),
        &[&["metadata", "--format-version", "1"][..], &filter].concat(),
    );
    let metadata: Value = serde_json::from_str(&output).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rmcp = packages
        .iter()
        .find(|package| package["name"] == "rmcp")
        .unwrap();
    let manifest = Path::new(rmcp["manifest_path"].as_str().unwrap());
    let version = rmcp["version"].as_str().unwrap();
    (version.into(), manifest.with_file_name("src"))
}

fn run(program: &str, args: &[&str]) -> String {
    let directory = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(program)
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap();
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
    let methods = handler
        .split("macro_rules! server_handler_methods")
        .nth(1)
        .and_then(|rest| rest.split("pub trait ServerHandler").next())
        .expect("rmcp has moved the methods of ServerHandler out of server_handler_methods!");
    let methods = methods
        .lines()
        .filter_map(|line| line.strip_prefix("        fn "));
    let passed_on = include_str!("../../src/handler/sdk.rs");
    let mut seen = 0;
    for name in methods.filter_map(|line| line.split('(').next()) {
        seen += 1;
        // As a row of a macro, or written in full.
        let rows = [
            format!("        {name}("),
            format!("    fn {name}("),
            format!("    async fn {name}("),
        ];
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
}

#[test]
fn no_member_of_a_request_has_another_name() {
    let (version, root) = rmcp();
    let mut files: Vec<_> = std::fs::read_dir(root.join("model"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.push(root.join("model.rs"));
    let mut aliases = vec![];
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter(|line| line.contains("alias = \""));
        aliases.extend(lines.map(|line| line.trim().to_owned()));
    }
    // This one is in the schema of an elicitation, which the server sends.
    assert_eq!(
        aliases,
        [r#"#[serde(rename = "anyOf", alias = "oneOf")]"#],
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
        "rmcp reads a tools/call whose requestState is a number in another way: see src/params.rs"
    );
    let list = r#"{"method":"tools/list","params":{"cursor":5}}"#;
    assert!(
        matches!(parsed(list), ClientRequest::ListToolsRequest(list) if list.params.is_none()),
        "rmcp keeps a cursor that is a number: it can be refused now, see src/params.rs"
    );
}

#[test]
fn a_session_has_no_other_place_in_rmcps_types() {
    use rmcp::model::{ClientJsonRpcMessage, InitializeResult, ServerCapabilities};
    let told = r#"{"sessions":{},"experimental":{"sessions":{}}}"#;
    let told: ServerCapabilities = serde_json::from_str(told).unwrap();
    assert_eq!(
        serde_json::to_string(&told).unwrap(),
        r#"{"experimental":{"sessions":{}}}"#,
        "rmcp keeps capabilities.sessions: src/transport/mod.rs need not have it declared"
    );
    let begun = r#"{"protocolVersion":"2025-11-25","capabilities":{},"sessionId":"s",
        "serverInfo":{"name":"n","version":"1"}}"#;
    let begun: InitializeResult = serde_json::from_str(begun).unwrap();
    let begun = serde_json::to_value(&begun).unwrap();
    assert!(
        begun["sessionId"].is_null(),
        "rmcp keeps sessionId in the result of initialize"
    );
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping","sessionId":"s"}"#;
    let ping: ClientJsonRpcMessage = serde_json::from_str(ping).unwrap();
    let ping = serde_json::to_value(&ping).unwrap();
    assert!(
        ping["sessionId"].is_null(),
        "rmcp keeps sessionId on messages"
    );
}

#[test]
fn each_kind_of_an_answer_is_known() {
    let (version, root) = rmcp();
    let mrtr = source(&root, "model/mrtr.rs");
    for (response, kinds) in [
        ("CallToolResponse", 3),
        ("GetPromptResponse", 2),
        ("ReadResourceResponse", 2),
    ] {
        let body = mrtr.split(&format!("pub enum {response} {{")).nth(1);
        let body = body.and_then(|rest| rest.split("\n}").next());
        let body = body.unwrap_or_else(|| panic!("rmcp {version} has moved {response}"));
        let found = body.lines().filter(|line| line.ends_with("),")).count();
        assert_eq!(
            found, kinds,
            "rmcp {version} has another kind of {response}: see src/handler/results.rs"
        );
    }
}

#[tokio::test]
async fn a_peer_can_be_made_without_a_client() {
    use rmcp::service::{Peer, serve_directly};
    struct Nobody;
    impl rmcp::ServerHandler for Nobody {}
    let closed = (futures::sink::drain(), futures::stream::empty());
    let peer: Peer<rmcp::RoleServer> = serve_directly(Nobody, closed, None).peer().clone();
    assert!(
        peer.peer_info().is_none(),
        "rmcp gives a peer without a client some information: see src/guard.rs"
    );
}
