//! Request contexts.

use sealwax::RequestContext;
use wasm_bindgen::prelude::*;

use crate::error::Result;

#[wasm_bindgen(js_name = requestContext)]
pub fn request_context(method: &str, target: &str, arguments: Option<String>) -> Result<Vec<u8>> {
    let context = RequestContext::new(method, target, arguments.as_deref())?;
    Ok(context.as_bytes().to_vec())
}
