//! The `sealwax` command.

fn main() {}
