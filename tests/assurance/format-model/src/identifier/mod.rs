//! Session ids and handles: a MAC signs them, and nothing is encrypted.
//!
//! A MAC is a term: nobody makes one without its key, and it is right for exactly the fields that were signed. The attacker
//! has every id and handle that was ever minted, writes each part of a text anew, or takes it from another one, and mints
//! with keys of his own and with one that leaked and was removed.

mod attack;
mod term;
mod verifying;

pub use attack::{attacks, pairs};
pub use term::{Body, Form, Minted, Ptag, Text, Ulid, Verifier};
pub use verifying::{Check, Without, verify};
