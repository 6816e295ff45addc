//! The WebAssembly module.
