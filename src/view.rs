//! A codec for one principal.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::current_keys::Keys;
use crate::format::principal_keys::{PrincipalKeys, Tag};
use crate::{Codec, Error, Principal};

impl Codec {
    /// Scopes the codec to one principal; reuse the view for the whole request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a principal without client and subject, or with a part that
    /// is empty or too long.
    pub fn view(&self, principal: &Principal) -> Result<View, Error> {
        principal.check()?;
        let keys = self.keys();
        let tags = keys.ring.keys().iter().map(|key| principal.tag(key));
        Ok(View {
            codec: self.clone(),
            tags: Zeroizing::new(tags.collect()),
            keys,
        })
    }
}

/// A [`Codec`] for one principal, with the principal's tags computed.
///
/// Its methods return a sealer for each kind of token, and require the bindings of that kind; the
/// [crate's front page](crate) helps to choose.
#[derive(Clone)]
pub struct View {
    codec: Codec,
    keys: Arc<Keys>,
    tags: Zeroizing<Vec<Tag>>,
}

impl View {
    /// Returns the codec of this view.
    #[must_use]
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Returns whether the codec still has the keys of this view. Who keeps views asks this before using one.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.keys.are_current()
    }

    /// Returns the keys, tags and audience that the format needs.
    pub(crate) fn principal_keys(&self) -> PrincipalKeys<'_> {
        PrincipalKeys {
            ring: self.keys.ring.keys(),
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
