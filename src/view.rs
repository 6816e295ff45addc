//! A codec for one principal.

use alloc::vec::Vec;
use core::fmt;

use zeroize::Zeroizing;

use crate::format::holder::{Holder, Tag};
use crate::{Codec, Error, Principal};

impl Codec {
    /// What this codec is to one principal: computed once, it serves a whole request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a principal that is nobody, or has an empty or too long
    /// part.
    pub fn view(&self, principal: &Principal) -> Result<View, Error> {
        principal.check()?;
        let keys = self.ring().keys().iter();
        Ok(View {
            codec: self.clone(),
            tags: Zeroizing::new(keys.map(|key| principal.tag(key)).collect()),
        })
    }
}

/// A [`Codec`] for one principal, with the principal's tags computed.
///
/// Its methods give a sealer for each kind of token, which asks for the bindings that the kind
/// requires; see the [crate's front page](crate) for the choice.
#[derive(Clone)]
pub struct View {
    codec: Codec,
    tags: Zeroizing<Vec<Tag>>,
}

impl View {
    /// The codec that this is a view of.
    #[must_use]
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// What the format has to know of this view.
    pub(crate) fn holder(&self) -> Holder<'_> {
        Holder {
            keys: self.codec.ring().keys(),
            tags: &self.tags,
            audience: self.codec.audience(),
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("codec", &self.codec)
            .finish_non_exhaustive()
    }
}
