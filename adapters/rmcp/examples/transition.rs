//! A guard that takes the place of rmcp's own codec, and accepts its tokens until a date.

use rmcp::model::RequestStateCodec;
use sealwax::Codec;
use sealwax_rmcp::{Guard, from_claims, opener_of};
use std::time::{Duration, UNIX_EPOCH};

fn guard() -> Result<Guard, Box<dyn std::error::Error>> {
    let before = RequestStateCodec::try_new(b"the key that the server had until now")?;
    let until = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let bound = |request: &sealwax_rmcp::Transitional<'_>| request.method.as_bytes().to_vec();
    let codec = Codec::from_env("https://notes.example.com")?;
    let guard = Guard::builder(codec, from_claims);
    Ok(guard.transition(until, opener_of(before, bound)).build()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:?}", guard()?);
    Ok(())
}
