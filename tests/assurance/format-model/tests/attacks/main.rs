//! With every check no attack is found; without one, these are.
#![allow(missing_docs)]

mod identifiers;
mod sealed;
