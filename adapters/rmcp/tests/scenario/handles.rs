//! The operations of a handler on handles.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use sealwax_rmcp::{Guard, ReferenceHandles, Refused, SelfContainedHandles};
use serde_json::{Value, json};

use crate::handler::Context;
use crate::stage::seconds;

pub async fn handle(guard: &Guard, told: &Value, context: &Context) -> Value {
    let did = operated(guard, told, context).await;
    did.unwrap_or_else(failed)
}

async fn operated(guard: &Guard, told: &Value, context: &Context) -> Result<Value, Refused> {
    let (given, options) = (&told["given"], &told["options"]);
    let handle_type = given[0].as_str().unwrap();
    let sent = given[1].as_str().unwrap_or_default();
    let rows = guard.reference_handles(handle_type);
    let rows = seconds(&options["maxAge"]).fold(rows, ReferenceHandles::max_age);
    let baskets = guard.self_contained_handles(handle_type);
    let baskets = seconds(&options["maxAge"]).fold(baskets, SelfContainedHandles::max_age);
    let baskets = match options["once"] == true {
        true => baskets.single_use(),
        false => baskets,
    };
    Ok(match told["do"].as_str().unwrap() {
        "mint" => json!({"handle": rows.mint(context)?.handle}),
        "check" => json!({"handle": rows.check(context, sent).await?.handle}),
        "seal" => json!({"handle": baskets.seal(context, &given[1])?.handle}),
        "open" => {
            let opened = baskets.open::<Value>(context, sent).await?;
            json!({"value": opened.value, "generation": opened.generation})
        }
        "renew" => {
            let mut opened = baskets.open::<Value>(context, sent).await?;
            opened.value = given[2].clone();
            json!({"handle": baskets.renew(context, &opened).await?.handle})
        }
        "end" => {
            match options["selfContained"] == true {
                true => baskets.end(context, sent).await?,
                false => rows.end(context, sent).await?,
            }
            json!("ok")
        }
        other => panic!("no operation is named {other}"),
    })
}

fn failed(refused: Refused) -> Value {
    let text = refused.to_string();
    let code = ErrorData::from(refused).code;
    let refusals = ["This handle is not valid", "Authentication required"];
    if refusals.iter().any(|refusal| text.starts_with(refusal)) {
        assert_eq!(code, ErrorCode(-32602));
        json!({"refused": true})
    } else {
        assert_eq!(code, ErrorCode(-32603));
        json!({"failed": true})
    }
}
