//! A key under which another service does a thing once.

use crate::format::bytes::leading;
use crate::{Error, KeyId, RequestContext, View};

impl View {
    /// Returns a key for an API that does a thing once for each, such as in `Idempotency-Key`: 32 hexadecimal digits. It is
    /// the same for the same request of the same principal, with the same `id`: that of what the principal agreed to, or
    /// empty. It is made under the key of this id, by default the one that seals (SPEC.md, "Request context").
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing, Principal, RequestContext};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let view = codec.view(&Principal::subject("alice"))?;
    /// let asked = RequestContext::new("tools/call", "pay", Some(r#"{"to": "bob", "cents": 500}"#))?;
    /// let key = view.idempotency_key(&asked, None, b"")?;
    /// assert_eq!(key.len(), 32);
    /// assert_eq!(view.idempotency_key(&asked, None, b"")?, key);
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`] for a key that is not in the ring.
    pub fn idempotency_key(
        &self,
        request: &RequestContext,
        key: Option<KeyId>,
        id: &[u8],
    ) -> Result<String, Error> {
        let keys = self.principal_keys();
        let (key, tag) = match key {
            Some(id) => keys.opening(id).map(|(_, key, tag)| (key, tag))?,
            None => keys.sealing(),
        };
        let audience = keys.audience.as_bytes();
        let pieces: [&[u8]; 5] = [b"idempotency", audience, tag, request.as_bytes(), id];
        let mac = u128::from_be_bytes(leading(&key.id_mac(&pieces)));
        Ok(format!("{mac:032x}"))
    }
}
