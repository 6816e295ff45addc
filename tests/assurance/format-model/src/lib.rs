//! A symbolic attacker (Dolev-Yao) against sealed tokens, and against [session ids and handles](identifier): a bounded search.
//!
//! Ciphers are terms: nobody makes or reads one without its key, and it opens with exactly the nonce and the associated
//! data that it was sealed with. The attacker has every token that was ever sealed, every principal's, from the wire or
//! from the store; takes them to pieces, puts pieces together, seals with keys of his own and with one that leaked and
//! was removed, presents what he made anywhere, and lets servers renew what they open for him.

mod attack;
pub mod identifier;
mod opening;
mod term;

pub use attack::{Attack, attacks, pairs};
pub use opening::{Check, Without, open};
pub use term::{Claims, Holder, Key, NOW, Opener, Purpose, Sealed, Text};
