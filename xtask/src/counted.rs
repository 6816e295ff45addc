//! `cargo xtask counted FROM TO`: a module with a counter of the instructions that it executes, exported as `executed`
//! (tests/assurance/counts).

use walrus::ir::{
    BinaryOp, Binop, Const, GlobalGet, GlobalSet, Instr, InstrLocId, InstrSeq, LocalGet, LocalSet,
    UnaryOp, Unop, Value, VisitorMut,
};
use walrus::{ConstExpr, GlobalId, LocalId, Module, ValType};

use crate::module::Result;

pub fn build(from: &str, to: &str) -> Result<()> {
    let mut module = Module::from_file(from)?;
    let zero = ConstExpr::Value(Value::I64(0));
    let counter = module.globals.add_local(ValType::I64, true, false, zero);
    module.exports.add("executed", counter);
    // Each function that uses it has one of its own.
    let length = module.locals.add(ValType::I32);
    let mut counting = Counting { counter, length };
    for (_, function) in module.funcs.iter_local_mut() {
        let entry = function.entry_block();
        walrus::ir::dfs_pre_order_mut(&mut counting, function, entry);
    }
    module.emit_wasm_file(to)?;
    Ok(())
}

#[derive(Clone, Copy)]
struct Counting {
    counter: GlobalId,
    length: LocalId,
}

impl VisitorMut for Counting {
    /// Counts what is executed in a row before it is: as far as control goes nowhere else.
    fn end_instr_seq_mut(&mut self, sequence: &mut InstrSeq) {
        let mut counted = Vec::new();
        let mut row = Vec::new();
        let mut executed = 0;
        for (instruction, place) in std::mem::take(&mut sequence.instrs) {
            let (is_block, is_branch, is_bulk) = match instruction {
                Instr::Block(_) | Instr::Loop(_) => (true, false, false),
                Instr::IfElse(_) | Instr::BrIf(_) => (false, true, false),
                Instr::MemoryFill(_) | Instr::MemoryCopy(_) => (false, false, true),
                _ => (false, false, false),
            };
            if is_bulk {
                row.extend(self.add_length().map(placed));
            }
            executed += i64::from(!is_block);
            row.push((instruction, place));
            if is_block || is_branch {
                counted.extend(self.add(executed).map(placed));
                counted.append(&mut row);
                executed = 0;
            }
        }
        counted.extend(self.add(executed).map(placed));
        counted.append(&mut row);
        sequence.instrs = counted;
    }
}

impl Counting {
    fn add(self, executed: i64) -> [Instr; 4] {
        let Self {
            counter: global, ..
        } = self;
        let value = Value::I64(executed);
        [
            GlobalGet { global }.into(),
            Const { value }.into(),
            Binop {
                op: BinaryOp::I64Add,
            }
            .into(),
            GlobalSet { global }.into(),
        ]
    }

    /// Adds an instruction for each 16 bytes that are filled or copied: the length is on the stack.
    fn add_length(self) -> [Instr; 9] {
        let Self {
            counter: global,
            length: local,
        } = self;
        let value = Value::I32(4);
        [
            LocalSet { local }.into(),
            GlobalGet { global }.into(),
            LocalGet { local }.into(),
            Const { value }.into(),
            Binop {
                op: BinaryOp::I32ShrU,
            }
            .into(),
            Unop {
                op: UnaryOp::I64ExtendUI32,
            }
            .into(),
            Binop {
                op: BinaryOp::I64Add,
            }
            .into(),
            GlobalSet { global }.into(),
            LocalGet { local }.into(),
        ]
    }
}

fn placed(instruction: Instr) -> (Instr, InstrLocId) {
    (instruction, InstrLocId::default())
}
