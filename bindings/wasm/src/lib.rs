//! The WebAssembly module of the npm package `sealwax`.
//!
//! It translates types and errors and decides nothing. The rules are in the core; JavaScript's
//! conventions (options, `TypeError`, disposal) are in `pkg/src`, the only caller of these exports.

#[cfg(target_arch = "wasm32")]
#[path = "../../c/src/wiping.rs"]
mod wiping;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: wiping::Wiping<rlsf::SmallGlobalTlsf> =
    wiping::Wiping(rlsf::SmallGlobalTlsf::new());

mod answer;
mod codec;
mod context;
mod environment;
mod error;
mod identifier;
mod input;
mod inspect;
mod key;
mod machines;
mod opened;
mod purpose;
mod session;
mod shared;
mod stack;
mod view;

/// For the declarations of the glue, which name the types of `pkg/src`.
#[wasm_bindgen::prelude::wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r"
import type { Answer } from './answer.js';
import type { Limits } from './codec.js';
import type { IdentifierFacts, Inspected, PrincipalParts, TokenFields } from './facts.js';
import type { Lifetime } from './lifetime.js';
import type { SessionMetadata } from './sessions.js';
";
