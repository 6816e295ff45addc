//! The metrics, as Prometheus reads them from the real SDK: an operator sees which keys are still in use.

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Encoder as _, Registry, TextEncoder};
use sealwax::Key;
use sealwax_rmcp::{Guard, from_claims};
use serde_json::json;

use crate::clients::{call, client, raw, state};
use crate::serving::{Refusals, Rounds, codec, serve};

#[tokio::test]
async fn a_rotation_is_seen_by_the_id_of_each_key() {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter().with_registry(registry.clone());
    let reader = exporter.without_target_info().build().unwrap();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let refusals = Refusals::default();
    let [old, new] = [(); 2].map(|()| Key::generate().unwrap());
    let server = async |keys: &[&Key]| {
        let guard = Guard::builder(codec(keys), from_claims).on_refused(refusals.hook());
        let guard = guard.instruments(&provider.meter("sealwax"));
        serve(guard.build().unwrap().protect(Rounds)).await
    };
    let (before, after) = (server(&[&old]).await, server(&[&new, &old]).await);

    let alice = client(&before, "alice").await;
    let sealed = state(&alice, call("count", json!({}))).await;
    let alice = client(&after, "alice").await;
    for _ in 0..3 {
        let again = call("count", json!({})).with_request_state(&sealed);
        alice.call_tool_once(again).await.unwrap();
    }
    let mallory = client(&after, "mallory").await;
    let stolen = call("count", json!({})).with_request_state(&sealed);
    assert!(mallory.call_tool_once(stolen).await.is_err());
    // A client may make up any number of methods.
    for method in ["x/1", "x/2"] {
        assert!(
            raw(&mallory, method, json!({"cursor": "forged"}))
                .await
                .is_err()
        );
    }

    let mut written = Vec::new();
    TextEncoder::new()
        .encode(&registry.gather(), &mut written)
        .unwrap();
    let written = String::from_utf8(written).unwrap();
    let old = old.id();
    let scope = "otel_scope_name=\"sealwax\"";
    let state = "sealwax_kind=\"request-state\"";
    let (call, opened) = ("mcp_method_name=\"tools/call\"", "sealwax_event=\"opened\"");
    let of_key =
        |event| format!("{call},sealwax_event=\"{event}\",sealwax_key_id=\"{old}\",{state}");
    for (name, labels, count) in [
        ("tokens_total", of_key("sealed"), 1),
        ("tokens_total", of_key("opened"), 3),
        (
            "tokens_total",
            format!("error_type=\"principal_mismatch\",{call},sealwax_event=\"refused\",{state}"),
            1,
        ),
        (
            "tokens_total",
            "error_type=\"malformed\",mcp_method_name=\"_OTHER\",sealwax_event=\"refused\",sealwax_kind=\"cursor\"".into(),
            2,
        ),
        ("token_age_seconds_count", state.into(), 3),
        ("guard_duration_seconds_count", format!("{opened},{state}"), 3),
    ] {
        let line = format!("sealwax_{name}{{{labels},{scope}}} {count}");
        assert!(written.lines().any(|found| found == line), "{line} in {written}");
    }
    let bucket =
        format!("sealwax_guard_duration_seconds_bucket{{{opened},{state},{scope},le=\"1\"}} 3");
    assert!(written.contains(&bucket), "{written}");
    // Neither whose token it was, nor which one.
    assert_eq!(refusals.take().len(), 3);
    for private in ["alice", "mallory", "idp.example.com", "\"count\"", "x/1"] {
        assert!(!written.contains(private), "{private} in {written}");
    }
}
