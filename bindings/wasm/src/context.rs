//! The request, and its caller.

use sealwax::{JwtClaims, Principal, RequestContext};
use sealwax_mcp::{ClientValue, TokenFields};
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::shared;

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/facts.ts`
    #[wasm_bindgen(typescript_type = "TokenFields")]
    pub type JsTokenFields;
    #[wasm_bindgen(typescript_type = "PrincipalParts")]
    pub type JsPrincipal;

    #[wasm_bindgen(js_name = tokenMembers)]
    fn members(
        kind: &str,
        param: &str,
        result: &str,
        target: Option<&str>,
        needs_caller: bool,
    ) -> JsTokenFields;
    #[wasm_bindgen(js_name = principalParts)]
    fn parts(issuer: Option<&str>, client: Option<&str>, subject: Option<&str>) -> JsPrincipal;
}

/// Writes the 32 bytes to the shared memory.
#[wasm_bindgen(js_name = requestContext)]
pub fn request_context(given: usize) -> i32 {
    let context = shared::frame(given, |frame| {
        let [method, target, arguments, only] = frame.values().map(ClientValue::text);
        let (method, target) = (method.unwrap_or_default(), target.unwrap_or_default());
        match only {
            None => RequestContext::new(method, target, arguments),
            Some(names) => {
                let names: Vec<&str> = names.split('\0').collect();
                RequestContext::only(method, target, arguments, &names)
            }
        }
    });
    shared::put_result(context, |context, writer| writer.put(context.as_bytes()))
}

#[wasm_bindgen(js_name = tokenFields)]
pub fn token_fields(method: &str) -> Option<JsTokenFields> {
    let fields = TokenFields::for_method(method)?;
    Some(members(
        fields.kind.name(),
        fields.param,
        fields.result,
        fields.target,
        fields.needs_caller(),
    ))
}

#[wasm_bindgen(js_name = principalFromClaims)]
pub fn principal_from_claims(
    iss: Option<String>,
    sub: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
) -> Result<JsPrincipal> {
    let principal = Principal::from_claims(&JwtClaims {
        iss: iss.as_deref(),
        sub: sub.as_deref(),
        client_id: client_id.as_deref(),
        azp: azp.as_deref(),
    })?;
    let named = principal.parts().unwrap_or_default();
    Ok(parts(named.issuer, named.client, named.subject))
}
