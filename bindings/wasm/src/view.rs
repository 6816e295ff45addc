//! A view: sealing and opening for one principal.

use wasm_bindgen::prelude::*;

use crate::environment;
use crate::input::{self, MOST, seconds, whole};
use crate::opened;
use crate::purpose;
use crate::shared;

#[wasm_bindgen]
#[derive(Debug)]
pub struct View(pub(crate) sealwax::View);

/// Lengths are those of the arguments in the shared memory, in their order; negative for an absent
/// one. An absent number is `NaN`.
#[wasm_bindgen]
#[expect(
    clippy::too_many_arguments,
    reason = "numbers, and nothing to allocate"
)]
impl View {
    /// Seals, under `nonce` if given. With `started_at` it renews the token with that start and
    /// `generation`. An infinite `ttl` is no expiry. `now` and `within` are what the host's clocks say.
    pub fn seal(
        &self,
        given: usize,
        nonce: usize,
        kind: u32,
        label: usize,
        session_id: i32,
        context: i32,
        payload: u32,
        ttl: f64,
        started_at: f64,
        generation: u32,
        now: f64,
        within: f64,
    ) -> i32 {
        let token = shared::take(given, |given| {
            let nonce = given.bytes(nonce);
            let purpose = purpose::read(given, kind, label, session_id, context)?;
            let mut sealer = self.0.sealer(purpose);
            if ttl.is_infinite() {
                sealer = sealer.no_expiry();
            } else if !ttl.is_nan() {
                sealer = sealer.ttl(seconds(ttl));
            }
            let bytes = given.bytes(payload.min(MOST) as usize);
            let token = environment::reading(now, within, nonce, || {
                if started_at.is_nan() {
                    sealer.seal(bytes)
                } else {
                    sealer.renew_from(whole(started_at), generation, bytes)
                }
            });
            token.map_err(|error| input::as_found(error, payload))
        });
        shared::put_result(token, |token, writer| writer.put(token.as_str().as_bytes()))
    }

    /// Opens, and writes the token as [`opened::put`] does. `units` is the token's length in
    /// JavaScript, `now` what the host's clock says.
    pub fn open(
        &self,
        given: usize,
        kind: u32,
        label: usize,
        session_id: i32,
        context: i32,
        token: usize,
        units: u32,
        max_age: f64,
        now: f64,
    ) -> i32 {
        let opened = shared::take(given, |given| {
            let purpose = purpose::read(given, kind, label, session_id, context)?;
            let mut sealer = self.0.sealer(purpose);
            if !max_age.is_nan() {
                sealer = sealer.max_age(seconds(max_age));
            }
            let token = given.text(token)?;
            environment::reading(now, f64::NAN, &[], || sealer.open(token))
                .map_err(|error| input::as_found(error, units))
        });
        shared::put_result(opened, opened::put)
    }
}
