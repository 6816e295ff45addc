//! The request, and its caller.

use sealwax::{JwtClaims, Principal, RequestContext};
use sealwax_mcp::TokenFields;
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
    fn members(kind: &str, param: &str, result: &str, target: Option<&str>) -> JsTokenFields;
    #[wasm_bindgen(js_name = principalParts)]
    fn parts(issuer: Option<&str>, client: Option<&str>, subject: Option<&str>) -> JsPrincipal;
}

/// Writes the 32 bytes to the shared memory. Lengths are those of the arguments there, negative for
/// an absent one.
#[wasm_bindgen(js_name = requestContext)]
pub fn request_context(
    given: usize,
    method: usize,
    target: usize,
    arguments: i32,
    only: i32,
) -> i32 {
    let context = shared::take(given, |given| {
        let (method, target) = (given.text(method)?, given.text(target)?);
        let arguments = given.some_text(arguments)?;
        match given.some_text(only)? {
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
    let kind = fields.kind.name();
    Some(members(kind, fields.param, fields.result, fields.target))
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
