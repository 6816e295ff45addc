//! The operations of a handler on handles.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use sealwax::Principal;
use sealwax_rmcp::{Guard, HandleRefused, Links, Pages, ReferenceHandles, SelfContainedHandles};
use serde_json::{Value, json};

use crate::handler::Context;
use crate::stage::{person, seconds, when};

pub async fn handle(guard: &Guard, told: &Value, context: &Context) -> Value {
    if told["do"] == "follow" {
        return followed(guard, told).await;
    }
    let did = operated(guard, told, context).await;
    did.unwrap_or_else(failed)
}

/// Opens a link, which takes no request.
async fn followed(guard: &Guard, told: &Value) -> Value {
    let (given, options) = (&told["given"], &told["options"]);
    let reports = guard.links(given[0].as_str().unwrap());
    let by = options.get("by").map(person);
    let reports = by.into_iter().fold(reports, Links::by);
    let sent = given[1].as_str().unwrap_or_default();
    let opened = match options["keep"] == true {
        true => reports.preview::<Value>(sent).await,
        false => reports.open::<Value>(sent).await,
    };
    match opened {
        Ok(opened) => json!({"value": opened.value, "principal": named(&opened.principal)}),
        Err(refused) if refused.status == 404 => json!({"refused": true}),
        Err(_) => json!({"failed": true}),
    }
}

fn named(principal: &Principal) -> Value {
    let Some(parts) = principal.parts() else {
        return json!({"anonymous": true});
    };
    json!({"issuer": parts.issuer, "client": parts.client, "subject": parts.subject})
}

async fn operated(guard: &Guard, told: &Value, context: &Context) -> Result<Value, HandleRefused> {
    let (given, options) = (&told["given"], &told["options"]);
    let pages = guard.pages();
    let text = |name: &str| options[name].as_str();
    let pages = text("argument").into_iter().fold(pages, Pages::argument);
    let pages = text("list").into_iter().fold(pages, Pages::list);
    let pages = seconds(&options["ttl"]).fold(pages, Pages::ttl);
    match told["do"].as_str().unwrap() {
        "cursor" => return Ok(json!({"handle": pages.cursor(context, &given[0])?})),
        "position" => return Ok(json!({"position": pages.position::<Value>(context).await?})),
        _ => {}
    }
    let handle_type = given[0].as_str().unwrap();
    let links = guard.links(handle_type);
    let links = seconds(&options["ttl"]).fold(links, Links::ttl);
    let links = when(options["once"] == true, links, Links::once);
    let sent = given[1].as_str().unwrap_or_default();
    let rows = guard.reference_handles(handle_type);
    let rows = seconds(&options["maxAge"]).fold(rows, ReferenceHandles::max_age);
    let baskets = guard.self_contained_handles(handle_type);
    let baskets = seconds(&options["maxAge"]).fold(baskets, SelfContainedHandles::max_age);
    let is_single = options["once"] == true;
    let baskets = when(is_single, baskets, SelfContainedHandles::single_use);
    Ok(match told["do"].as_str().unwrap() {
        "link" => json!({"handle": links.seal(context, &given[1])?}),
        "mint" => json!({"handle": rows.mint(context)?.handle}),
        "check" => json!({"handle": rows.check(context, sent).await?.handle}),
        "mintShort" => {
            let number = u32::try_from(given[1].as_u64().unwrap()).unwrap();
            json!({"handle": rows.mint_short(context, number)?})
        }
        "checkShort" => json!({"value": rows.check_short(context, sent)?}),
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

fn failed(refused: HandleRefused) -> Value {
    let text = refused.to_string();
    let code = ErrorData::from(refused).code;
    let refusals = ["This ", "Authentication required", "Invalid arguments"];
    if refusals.iter().any(|refusal| text.starts_with(refusal)) {
        assert_eq!(code, ErrorCode(-32602));
        json!({"refused": true})
    } else {
        assert_eq!(code, ErrorCode(-32603));
        json!({"failed": true})
    }
}
