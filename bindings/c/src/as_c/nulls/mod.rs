//! Every function with NULL for each of its pointers, one at a time: `r` is refused with `SEALWAX_NULL_POINTER`, `o` is
//! optional, and `i` is no parent: `SEALWAX_INVALID_ARGUMENT`. Then without, which succeeds.

mod keys;
mod ledger;
mod machine;
mod sessions;
mod texts;
mod tokens;

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::ptr;

use super::{Pick, c};
use crate::codec::*;
use crate::key::*;
use crate::key_ring::*;
use crate::machine::*;
use crate::session::*;
use crate::size::*;
use crate::status::*;
use crate::testing::*;
use crate::token::*;
use crate::version::*;
use crate::view::*;

/// `nulls!("ro", { what each call needs } function(arguments), what comes after)`.
macro_rules! nulls {
    ($expected:expr, $({ $($before:tt)* })? $f:ident($($arguments:tt)*) $(, $after:expr)?) => {{
        let mut outcome = String::new();
        for nulled in 1.. {
            $($($before)*)?
            let mut pick = Pick { nulled, seen: 0 };
            // The header allows NULL everywhere: it is refused where it must not be.
            let status = c!(@ pick $f () ($($arguments)*));
            $($after;)?
            if nulled > pick.seen {
                assert_eq!(status, SEALWAX_OK, stringify!($f));
                break;
            }
            outcome.push(match status {
                SEALWAX_OK => 'o',
                SEALWAX_NULL_POINTER => 'r',
                SEALWAX_INVALID_ARGUMENT => 'i',
                other => panic!("{}: {other} for NULL at {nulled}", stringify!($f)),
            });
        }
        assert_eq!(outcome, $expected, stringify!($f));
    }};
}
use nulls;

/// A place for the outputs of a function.
struct Places {
    out: Box<[MaybeUninit<u8>]>,
    len: Box<MaybeUninit<usize>>,
}

impl Places {
    fn new() -> Self {
        Self {
            out: Box::new_uninit_slice(8192),
            len: Box::new(MaybeUninit::uninit()),
        }
    }

    fn out<T>(&mut self) -> *mut T {
        self.out.as_mut_ptr().cast()
    }

    fn cap(&self) -> usize {
        self.out.len()
    }

    fn len(&mut self) -> *mut usize {
        self.len.as_mut_ptr()
    }
}

/// Makes places for outputs of these types, which are not initialized.
macro_rules! places {
    ($($place:ident: $type:ty),*) => {
        $(let mut $place = Box::new(std::mem::MaybeUninit::<$type>::uninit());
        let $place = $place.as_mut_ptr();)*
    };
}
use places;

#[test]
#[cfg_attr(miri, ignore = "it reads sources, and touches nothing")]
fn every_function_of_the_header_is_called() {
    let here: BTreeSet<_> = names(concat!(
        include_str!("mod.rs"),
        include_str!("keys.rs"),
        include_str!("ledger.rs"),
        include_str!("machine.rs"),
        include_str!("sessions.rs"),
        include_str!("texts.rs"),
        include_str!("tokens.rs"),
        include_str!("../results.rs"),
        include_str!("../mod.rs")
    ));
    let header = names(include_str!("../../../include/sealwax.h"));
    assert!(header.len() > 60, "{}", header.len());
    let missing: Vec<_> = header.difference(&here).collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
}

/// The names that an opening parenthesis follows.
fn names(source: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    source
        .match_indices("sealwax_")
        .filter_map(|(at, _)| {
            let rest = &source[at..];
            let end = rest.find(|c| !is_part(c))?;
            rest[end..].starts_with('(').then(|| &rest[..end])
        })
        .collect()
}

#[test]
fn nothing_is_freed_or_measured() {
    c!(sealwax_key_free(ptr::null_mut()));
    c!(sealwax_ring_free(ptr::null_mut()));
    c!(sealwax_codec_free(ptr::null_mut()));
    c!(sealwax_view_free(ptr::null_mut()));
    c!(sealwax_session_free(ptr::null_mut()));
    c!(sealwax_machine_free(ptr::null_mut()));
    c!(sealwax_test_clock_free(ptr::null_mut()));
    assert_eq!(c!(sealwax_token_limit(ptr::null())), 0);
    assert_eq!(c!(sealwax_metadata_limit(ptr::null())), 0);
    assert!(sealwax_kind_name(99).is_null());
    assert_eq!(sealwax_default_ttl(99), 0);
    assert_eq!(sealwax_abi_version(), SEALWAX_ABI_VERSION);
    assert!(!sealwax_version().is_null() && !sealwax_code(99).is_null());
    assert!(sealwax_is_refusal(SEALWAX_EXPIRED));
    nulls!("o", sealwax_check_ttl(60, ptr::null_mut()));
}
