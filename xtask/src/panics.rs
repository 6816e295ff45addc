//! Panics without their messages.
//!
//! A panic in this module is a trap and its message goes nowhere, for the target has no
//! standard error. So the functions that compose messages become the trap itself, and wasm-opt
//! drops what only they called: 11 kB. Should a release of Rust rename them, the module grows
//! over the budget that a test of the package holds.

use walrus::{FunctionBuilder, FunctionId, FunctionKind, InstrSeqBuilder, Module};

/// What never returns in the standard library, by its name or the beginning of it.
const DIVERGING: [&str; 10] = [
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::panicking::",
    "core::result::unwrap_failed",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::slice::index::slice_index_fail",
    "core::str::slice_error_fail",
];

pub fn silence(module: &mut Module) {
    // A panic traps.
    replace(module, diverges, |body| {
        body.unreachable();
    });
    // Its arguments name tables of functions that would show them: they show nothing, and all is
    // well (a `Result` of 0). No message of ours is made by `{:?}`.
    replace(module, debugs, |body| {
        body.i32_const(0);
    });
}

/// Gives another body to the functions of such names.
fn replace(module: &mut Module, which: fn(&str) -> bool, write: fn(&mut InstrSeqBuilder<'_>)) {
    let found: Vec<FunctionId> = module
        .funcs
        .iter_local()
        .map(|(id, _)| id)
        .filter(|id| module.funcs.get(*id).name.as_deref().is_some_and(which))
        .collect();
    for id in found {
        let ty = module.types.get(module.funcs.get(id).ty());
        let (params, results) = (ty.params().to_vec(), ty.results().to_vec());
        let mut body = FunctionBuilder::new(&mut module.types, &params, &results);
        write(&mut body.func_body());
        let params = params.iter().map(|ty| module.locals.add(*ty)).collect();
        module.funcs.get_mut(id).kind = FunctionKind::Local(body.local_func(params));
    }
}

fn debugs(name: &str) -> bool {
    name.contains("fmt::Debug>::fmt")
}

/// Names look like `core[c5930c85a12de822]::panicking::panic_fmt`, with the crate's hash.
fn diverges(name: &str) -> bool {
    let Some((krate, rest)) = name.split_once("::") else {
        return false;
    };
    let krate = krate.split('[').next().unwrap_or(krate);
    DIVERGING
        .iter()
        .any(|diverging| format!("{krate}::{rest}").starts_with(diverging))
}
