//! Panics without their messages.
//!
//! A panic in this module is a trap and its message goes nowhere, for the target has no
//! standard error. So the functions that compose messages become the trap itself, and wasm-opt
//! drops what only they called: 6 kB. Should a release of Rust rename them, the module grows
//! over the budget that a test of the package holds.

use walrus::{FunctionBuilder, FunctionId, FunctionKind, Module, ValType};

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

pub fn trap_at_once(module: &mut Module) {
    trap_what_diverges(module);
    empty_what_debugs(module);
}

fn trap_what_diverges(module: &mut Module) {
    let diverging: Vec<FunctionId> = module
        .funcs
        .iter_local()
        .filter(|(id, _)| diverges(module.funcs.get(*id).name.as_deref()))
        .map(|(id, _)| id)
        .collect();
    for id in diverging {
        let ty = module.types.get(module.funcs.get(id).ty());
        let (params, results) = (ty.params().to_vec(), ty.results().to_vec());
        let mut trap = FunctionBuilder::new(&mut module.types, &params, &results);
        trap.func_body().unreachable();
        let params = params.iter().map(|ty| module.locals.add(*ty)).collect();
        module.funcs.get_mut(id).kind = FunctionKind::Local(trap.local_func(params));
    }
}

/// Names look like `core[c5930c85a12de822]::panicking::panic_fmt`, with the crate's hash.
/// What a panic would have shown by `{:?}` is written as nothing: 5 kB, kept by tables of functions
/// that a panic's arguments name. No message of ours is made in that way.
fn empty_what_debugs(module: &mut Module) {
    let debugging: Vec<FunctionId> = module
        .funcs
        .iter_local()
        .filter(|(id, _)| {
            let function = module.funcs.get(*id);
            let ty = module.types.get(function.ty());
            let shows = function
                .name
                .as_deref()
                .is_some_and(|name| name.contains("fmt::Debug>::fmt"));
            shows && ty.params() == [ValType::I32; 2] && ty.results() == [ValType::I32]
        })
        .map(|(id, _)| id)
        .collect();
    for id in debugging {
        let mut nothing =
            FunctionBuilder::new(&mut module.types, &[ValType::I32; 2], &[ValType::I32]);
        nothing.func_body().i32_const(0); // Ok(())
        let params = [ValType::I32; 2].map(|ty| module.locals.add(ty)).to_vec();
        module.funcs.get_mut(id).kind = FunctionKind::Local(nothing.local_func(params));
    }
}

fn diverges(name: Option<&str>) -> bool {
    let Some((krate, rest)) = name.and_then(|name| name.split_once("::")) else {
        return false;
    };
    let krate = krate.split('[').next().unwrap_or(krate);
    DIVERGING
        .iter()
        .any(|diverging| format!("{krate}::{rest}").starts_with(diverging))
}
