//! Removes unused code and data.
//!
//! The linker keeps the data that a function refers to, and everything that the data refers to.
//! Without the messages of panics, 9 kB of it is unused. It is overwritten with zeros and traps,
//! which wasm-opt removes. The linker's relocations (`--emit-relocs`) show the references.

use std::collections::HashMap;
use std::error::Error;
use std::mem;
use std::ops::Range;

use wasmparser::{
    ExternalKind, FunctionBody, KnownCustom, Linking, Name, Operator, Parser, Payload,
    RelocSectionReader, RelocationType, SymbolInfo, TypeRef,
};

use crate::panics::Instead;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A place in the file.
type Place = Range<usize>;

/// The references in a linked module.
#[derive(Default)]
struct Linked {
    /// The bodies of the functions by their index; empty for imported ones.
    functions: Vec<Place>,
    /// The functions that the host calls.
    exported: Vec<usize>,
    /// The functions to replace.
    instead: HashMap<usize, Instead>,
    symbols: Vec<Symbol>,
    /// The place and the symbol of each reference.
    names: Vec<(usize, usize)>,
}

enum Symbol {
    Function(usize),
    Data(Place),
    Other,
}

/// Silences panics and overwrites unused code and data, in a module fresh from the linker.
pub fn overwrite(module: &mut [u8]) -> Result<()> {
    let linked = Linked::read(module)?;
    let (functions, symbols) = linked.used();
    for (index, body) in linked.functions.iter().enumerate() {
        let unused = (!functions[index]).then_some(Instead::Trap);
        if let Some(instead) = linked.instead.get(&index).copied().or(unused) {
            replace(&mut module[body.clone()], instead.code());
        }
    }
    // Two symbols may share their bytes.
    let mut kept = vec![false; module.len()];
    let data = || {
        let symbols = linked.symbols.iter().zip(&symbols);
        symbols.filter_map(|(symbol, used)| match symbol {
            Symbol::Data(place) => Some((place.clone(), *used)),
            _ => None,
        })
    };
    for (place, _) in data().filter(|(_, used)| *used) {
        kept[place].fill(true);
    }
    for at in data().flat_map(|(place, _)| place) {
        if !kept[at] {
            module[at] = 0;
        }
    }
    Ok(())
}

/// Replaces the instructions of a function in place.
fn replace(body: &mut [u8], code: &[u8]) {
    const NOP: u8 = 0x01;
    const END: u8 = 0x0b;
    let Some((end, [locals, rest @ ..])) = body.split_last_mut() else {
        return;
    };
    if rest.len() >= code.len() {
        *locals = 0;
        rest.fill(NOP);
        rest[..code.len()].copy_from_slice(code);
        *end = END;
    }
}

impl Linked {
    fn read(module: &[u8]) -> Result<Self> {
        let mut linked = Self::default();
        let mut bodies = Vec::new();
        let mut segments = Vec::new();
        let (mut code, mut data) = (0, 0);
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        if let TypeRef::Func(_) = import?.ty {
                            linked.functions.push(0..0);
                        }
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        if export.kind == ExternalKind::Func {
                            linked.exported.push(export.index as usize);
                        }
                    }
                }
                Payload::StartSection { func, .. } => linked.exported.push(func as usize),
                Payload::CodeSectionStart { range, .. } => code = range.start,
                Payload::CodeSectionEntry(body) => {
                    linked.functions.push(body.range());
                    bodies.push(body);
                }
                Payload::DataSection(section) => {
                    data = section.range().start;
                    for segment in section {
                        let segment = segment?;
                        segments.push(segment.range.end - segment.data.len());
                    }
                }
                Payload::CustomSection(section) => match section.as_known() {
                    KnownCustom::Linking(parts) => {
                        for part in parts {
                            if let Linking::SymbolTable(symbols) = part? {
                                for symbol in symbols {
                                    linked.symbols.push(Symbol::of(&symbol?, &segments));
                                }
                            }
                        }
                    }
                    KnownCustom::Reloc(names) => match section.name() {
                        "reloc.CODE" => linked.name(&names, code)?,
                        "reloc.DATA" => linked.name(&names, data)?,
                        _ => {}
                    },
                    KnownCustom::Name(parts) => {
                        for part in parts {
                            if let Name::Function(names) = part? {
                                for naming in names {
                                    let naming = naming?;
                                    let name = rustc_demangle::demangle(naming.name).to_string();
                                    if let Some(instead) = Instead::of(&name) {
                                        linked.instead.insert(naming.index as usize, instead);
                                    }
                                }
                            }
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        if linked.symbols.is_empty() || linked.names.is_empty() || linked.instead.is_empty() {
            return Err("the linker told no symbols, relocations or names".into());
        }
        for body in bodies {
            linked.forget_messages(&body)?;
        }
        Ok(linked)
    }

    fn name(&mut self, names: &RelocSectionReader<'_>, section: usize) -> Result<()> {
        for name in names.entries() {
            let name = name?;
            if name.ty != RelocationType::TypeIndexLeb {
                let at = section + name.offset as usize;
                self.names.push((at, name.index as usize));
            }
        }
        Ok(())
    }

    /// Drops the references right before a trap: they only serve to compose its message.
    fn forget_messages(&mut self, body: &FunctionBody<'_>) -> Result<()> {
        let mut since = None;
        for operator in body.get_operators_reader()?.into_iter_with_offsets() {
            let (operator, at) = operator?;
            let start = *since.get_or_insert(at);
            match operator {
                Operator::Call { function_index }
                    if self.instead.get(&(function_index as usize)) == Some(&Instead::Trap) =>
                {
                    self.names.retain(|(name, _)| !(start..at).contains(name));
                    since = None;
                }
                Operator::Call { .. }
                | Operator::CallIndirect { .. }
                | Operator::Block { .. }
                | Operator::Loop { .. }
                | Operator::If { .. }
                | Operator::Else
                | Operator::End
                | Operator::Br { .. }
                | Operator::BrIf { .. }
                | Operator::BrTable { .. }
                | Operator::Return
                | Operator::Unreachable => since = None,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the functions and the symbols that are reachable from the exports.
    fn used(&self) -> (Vec<bool>, Vec<bool>) {
        let mut functions = vec![false; self.functions.len()];
        let mut symbols = vec![false; self.symbols.len()];
        let mut places: Vec<&Place> = Vec::new();
        for index in &self.exported {
            functions[*index] = true;
            places.push(&self.functions[*index]);
        }
        while let Some(place) = places.pop() {
            for (_, named) in self.names.iter().filter(|(at, _)| place.contains(at)) {
                let known = mem::replace(&mut symbols[*named], true);
                match &self.symbols[*named] {
                    Symbol::Function(index) => {
                        let known = mem::replace(&mut functions[*index], true);
                        if !known && !self.instead.contains_key(index) {
                            places.push(&self.functions[*index]);
                        }
                    }
                    Symbol::Data(place) if !known => places.push(place),
                    Symbol::Data(_) | Symbol::Other => {}
                }
            }
        }
        (functions, symbols)
    }
}

impl Symbol {
    fn of(symbol: &SymbolInfo<'_>, segments: &[usize]) -> Self {
        match symbol {
            SymbolInfo::Func { index, .. } => Self::Function(*index as usize),
            SymbolInfo::Data {
                symbol: Some(data), ..
            } => {
                let start = segments[data.index as usize] + data.offset as usize;
                Self::Data(start..start + data.size as usize)
            }
            _ => Self::Other,
        }
    }
}
