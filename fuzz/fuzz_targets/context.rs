//! Checks that accepted arguments have one context, however their JSON is spelled.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwax::RequestContext;

fuzz_target!(|arguments: &str| {
    let context = |text: &str| RequestContext::new("tools/call", "x", Some(text));
    let Ok(first) = context(arguments) else { return };
    if arguments.is_empty() {
        return;
    }
    let value: serde_json::Value = serde_json::from_str(arguments).expect("accepted, so JSON");
    assert_eq!(context(&serde_json::to_string_pretty(&value).unwrap()), Ok(first));
});
