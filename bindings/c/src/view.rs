//! A codec for one principal.

use std::ffi::c_char;

use sealwax_core::Principal;

use crate::call::{ErrorReport, call};
use crate::codec::Codec;
use crate::input;
use crate::output::{Slot, free};
use crate::status::Status;

/// A codec for one principal, with the principal's tags computed: reuse it for the whole request.
pub struct View(pub(crate) sealwax_core::View);

/// Makes the view for an authenticated principal.
///
/// Take the parts from a verified credential, by the same rule in every replica: from a JWT, `iss`,
/// `client_id` or `azp`, and `sub`. A part that is NULL is absent; an empty one is an error.
///
/// Fails with SEALWAX_INVALID_ARGUMENT without a client or a subject, for an empty part, or for
/// one over 1,024 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_view_new(
    codec: *const Codec,
    issuer: *const c_char,
    issuer_len: usize,
    client: *const c_char,
    client_len: usize,
    subject: *const c_char,
    subject_len: usize,
    view: *mut *mut View,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let codec = input::object("codec", codec)?;
        let issuer = input::optional_text("issuer", issuer, issuer_len)?;
        let client = input::optional_text("client", client, client_len)?;
        let subject = input::optional_text("subject", subject, subject_len)?;
        let view = Slot::new("view", view)?;
        let principal = Principal::from_parts(issuer, client, subject)?;
        view.give(View(codec.0.view(&principal)?));
        Ok(())
    })
}

/// Makes the view for the anonymous principal: anyone who holds its tokens can use them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_view_new_anonymous(
    codec: *const Codec,
    view: *mut *mut View,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let codec = input::object("codec", codec)?;
        let view = Slot::new("view", view)?;
        view.give(View(codec.0.view(&Principal::anonymous())?));
        Ok(())
    })
}

/// Frees a view; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_view_free(view: *mut View) {
    free(view);
}
