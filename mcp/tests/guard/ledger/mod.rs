//! The ledger in a guard: each rule as a trace, with the ledger in memory.

mod clocks;
mod ends;
mod replica;
mod sessions;
mod single_use;
