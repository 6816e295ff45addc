//! The world of the model, in the codec's terms.

use format_model::{Holder, Key, Purpose};
use sealwax::{Codec, Environment, Error, KeyRing, Principal, Sealer, View};

/// A clock that stands still, in milliseconds, and randomness of one number: not zeros, which count as none.
pub struct World(pub u64, pub u16);

impl Environment for World {
    fn now_ms(&self) -> u64 {
        self.0
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.fill(1);
        bytes[..2].copy_from_slice(&self.1.to_le_bytes());
        Ok(())
    }
}

pub fn key(key: Key) -> sealwax::Key {
    let secret: Vec<u8> = (0..32u8)
        .map(|at| at.wrapping_mul(73) ^ (0x80 + key as u8))
        .collect();
    sealwax::Key::from_secret(&secret).unwrap()
}

pub fn view(ring: &[Key], audience: &str, holder: Holder, world: World) -> View {
    let ring = KeyRing::new(ring.iter().copied().map(key)).unwrap();
    let codec = Codec::builder(ring, audience).build_in(world);
    let name = format!("{holder:?}");
    codec.unwrap().view(&Principal::subject(name)).unwrap()
}

pub fn sealer<'v>(
    view: &'v View,
    purpose: &'v Purpose,
    context: &'v [u8],
) -> Sealer<'v, sealwax::kind::Untyped> {
    let mut of = sealwax::Purpose::of(purpose.kind);
    of.label = purpose.label;
    of.session_id = purpose.session;
    of.context = context;
    view.sealer(of)
}
