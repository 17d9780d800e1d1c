//! The machine: calls, frames, construction, and the way in from outside.

use std::collections::BTreeMap;
use std::mem;

use clickwork_source::Span;

use super::objects::Objects;
use super::tail::{Step, Wanted};
use super::{Memory, Outcome, Trap, TrapKind, Value};
use crate::program::tree::{CBlock, CPiece, Expr, ExprKind};
use crate::program::{ExceptionId, FieldId, LocalId, MethodId, ModuleId, Program, Type};

/// How much one call from outside may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Expressions evaluated, with something more for large objects.
    pub steps: u64,
    /// Expressions inside of each other, through all calls. One takes less than [`Limits::LEVEL_BYTES`] of the stack of
    /// the thread that runs the machine.
    pub depth: u32,
    /// Bytes of memory, in all calls together.
    pub memory: u64,
}

impl Limits {
    /// What one level of `depth` takes of the stack at most, even in a program that was compiled without optimisation.
    pub const LEVEL_BYTES: usize = 3072;
}

impl Default for Limits {
    /// For threads with a stack of 2 MiB.
    fn default() -> Self {
        Limits { steps: 100_000_000, depth: 500, memory: 64 << 20 }
    }
}

/// What stops an evaluation.
#[derive(Debug)]
pub(super) enum Stop {
    Exception(ExceptionId),
    Trap(Box<Trap>),
}

/// What an evaluation gives.
pub(super) type Eval<T> = Result<T, Stop>;

/// Says where a fault happened.
pub(super) trait At<T> {
    fn at(self, span: Span) -> Eval<T>;
}

impl<T> At<T> for Result<T, TrapKind> {
    fn at(self, span: Span) -> Eval<T> {
        self.map_err(|kind| Stop::Trap(Box::new(Trap { kind, span })))
    }
}

/// A call with everything evaluated.
pub(super) struct Invocation {
    pub method: MethodId,
    pub this: u64,
    pub args: Vec<Value>,
    pub span: Span,
}

/// What a running method knows.
#[derive(Default)]
struct Frame {
    this: u64,
    /// The addresses of the locals.
    locals: Vec<u64>,
    method: Option<MethodId>,
}

/// C code that was reached, for somebody who can do what it would do.
pub struct CCode<'a> {
    /// The code.
    pub block: &'a CBlock,
    /// What stands for each Prolac name in it, in the order written.
    pub operands: Vec<Operand>,
    /// All memory.
    pub memory: &'a mut Memory,
}

impl CCode<'_> {
    /// The code with `$0`, `$1` and so on for the Prolac names.
    pub fn text(&self) -> String {
        let mut operands = 0..;
        let pieces = self.block.pieces.iter().map(|piece| match piece {
            CPiece::Text(text, _) => text.clone(),
            CPiece::Value(_) => format!("${}", operands.next().unwrap_or(0)),
        });
        pieces.collect()
    }
}

/// What a Prolac name in C code stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Something in memory.
    Place {
        /// Where.
        address: u64,
        /// Its bytes.
        size: u64,
    },
    /// A constant.
    Value(Value),
}

/// Does what C code would do; false if it does not know the code.
type Host<'p> = Box<dyn FnMut(&mut CCode<'_>) -> Result<bool, TrapKind> + 'p>;

/// A program with a memory, ready to be called.
///
/// Static fields start as zeros, with objects of exactly their types, and keep their values from call to call.
pub struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) objects: Objects<'p>,
    pub(super) memory: Memory,
    limits: Limits,
    steps: u64,
    depth: u32,
    frame: Frame,
    /// The address of each static field, by number; 0 for other fields.
    statics: Vec<u64>,
    strings: BTreeMap<&'p [u8], u64>,
    /// For each method whether a pointer to one of its variables can outlive a jump out of it, once that is known.
    exposes: BTreeMap<MethodId, bool>,
    junk: u8,
    host: Option<Host<'p>>,
}

impl<'p> Machine<'p> {
    /// A machine for a program without errors.
    pub fn new(program: &'p Program, limits: Limits) -> Result<Self, Trap> {
        let outside = |kind| Trap { kind, span: Span::NONE };
        let objects = Objects::new(program).map_err(outside)?;
        let mut memory = Memory::new(limits.memory);
        let statics = program.fields.iter().map(|field| match field.is_static {
            true => objects.allocate(&mut memory, &field.ty),
            false => Ok(0),
        });
        let statics = statics.collect::<Result<_, _>>().map_err(outside)?;
        Ok(Machine {
            program,
            objects,
            memory,
            limits,
            steps: 0,
            depth: 0,
            frame: Frame::default(),
            statics,
            strings: BTreeMap::new(),
            exposes: BTreeMap::new(),
            junk: 0,
            host: None,
        })
    }

    /// Has `host` do what C code would do.
    pub fn on_c_block(&mut self, host: impl FnMut(&mut CCode<'_>) -> Result<bool, TrapKind> + 'p) {
        self.host = Some(Box::new(host));
    }

    /// What every byte of a variable without an initial value is. A program whose results depend on it is wrong.
    pub fn fill_variables_with(&mut self, byte: u8) {
        self.junk = byte;
    }

    /// All memory, for objects that the caller makes or looks at.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Where a static field lies; 0 for other fields.
    pub fn static_field(&self, field: FieldId) -> u64 {
        self.statics[field.0 as usize]
    }

    /// Bytes of a value of this type.
    pub fn size_of(&self, ty: &Type) -> u64 {
        self.objects.size(ty)
    }

    /// The value at an address.
    pub fn load(&self, address: u64, ty: &Type) -> Result<Value, TrapKind> {
        self.objects.load(&self.memory, address, ty)
    }

    /// Calls exactly this method, with the address of an object if it is not static.
    pub fn call(&mut self, method: MethodId, receiver: Option<u64>, args: &[Value]) -> Result<Outcome, Trap> {
        let callee = &self.program[method];
        let span = callee.span;
        let params = callee.body.locals.iter().take(callee.params as usize);
        let fits = params.len() == args.len() && params.zip(args).all(|(param, arg)| fits(&param.ty, arg));
        if !fits || receiver.is_none() != callee.is_static {
            return Err(Trap { kind: TrapKind::WrongArguments, span });
        }
        let args = args.to_vec();
        self.begin(|m| m.invoke(Invocation { method, this: receiver.unwrap_or(0), args, span }))
    }

    /// A new object that stays: a pointer to it.
    pub fn construct(&mut self, module: ModuleId, args: &[Value]) -> Result<Outcome, Trap> {
        let span = self.program[module].span;
        let size = self.objects.module_size(module);
        let args = args.to_vec();
        self.begin(|m| {
            let address = m.memory.allocate(size).at(span)?;
            m.construct_at(address, module, args, span)?;
            Ok(Value::Pointer(address))
        })
    }

    fn begin(&mut self, run: impl FnOnce(&mut Self) -> Eval<Value>) -> Result<Outcome, Trap> {
        self.steps = self.limits.steps;
        self.depth = 0;
        match run(self) {
            Ok(value) => Ok(Outcome::Value(value)),
            Err(Stop::Exception(exception)) => Ok(Outcome::Exception(exception)),
            Err(Stop::Trap(trap)) => Err(*trap),
        }
    }

    /// Counts one expression inside of another; `depth` goes down by one when it is done.
    pub(super) fn enter(&mut self, span: Span) -> Eval<()> {
        self.spend(1).at(span)?;
        if self.depth >= self.limits.depth {
            return Err(TrapKind::OutOfStack).at(span);
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts the work of moving so many bytes.
    pub(super) fn spend_on(&mut self, bytes: u64) -> Result<(), TrapKind> {
        self.spend(bytes / 64)
    }

    fn spend(&mut self, steps: u64) -> Result<(), TrapKind> {
        self.steps = self.steps.checked_sub(steps).ok_or(TrapKind::OutOfSteps)?;
        Ok(())
    }

    /// Runs a method and whatever it calls in tail position.
    pub(super) fn invoke(&mut self, call: Invocation) -> Eval<Value> {
        let is_void = self.program[call.method].returns.is_void();
        let mark = self.memory.mark();
        let result = self.run(call);
        self.memory.release(mark);
        result.map(|value| if is_void { Value::Void } else { value })
    }

    fn run(&mut self, mut call: Invocation) -> Eval<Value> {
        let mut bottom = self.memory.mark();
        loop {
            let method = &self.program[call.method];
            let wanted = if method.returns.is_void() { Wanted::Nothing } else { Wanted::Value };
            let frame = self.frame(&call)?;
            let outer = mem::replace(&mut self.frame, frame);
            let step = self.tail(&method.body.root, wanted);
            self.frame = outer;
            match step? {
                Step::Value(value) => return Ok(value),
                Step::Call(next) => {
                    match self.exposes_locals(call.method) {
                        true => bottom = self.memory.mark(),
                        false => self.memory.release(bottom),
                    }
                    call = next;
                }
            }
        }
    }

    /// Makes the variables of a call.
    fn frame(&mut self, call: &Invocation) -> Eval<Frame> {
        let method = &self.program[call.method];
        if !method.is_static && call.this == 0 {
            return Err(TrapKind::NullPointer).at(call.span);
        }
        let mut locals = Vec::with_capacity(method.body.locals.len());
        for (i, local) in method.body.locals.iter().enumerate() {
            let address = self.variable(&local.ty).at(call.span)?;
            if let Some(value) = call.args.get(i) {
                self.objects.init(&mut self.memory, address, &local.ty, value).at(call.span)?;
            }
            locals.push(address);
        }
        Ok(Frame { method: Some(call.method), this: call.this, locals })
    }

    fn variable(&mut self, ty: &Type) -> Result<u64, TrapKind> {
        let size = self.objects.size(ty);
        self.spend_on(size)?;
        self.memory.push(size)
    }

    /// Makes a variable one without a value.
    pub(super) fn undefine(&mut self, address: u64, ty: &Type) -> Result<(), TrapKind> {
        let bytes = self.memory.bytes_mut(address, self.objects.size(ty))?;
        bytes.fill(self.junk);
        self.objects.stamp(bytes, ty);
        Ok(())
    }

    /// Whether the method takes the address of a variable, so that its variables must stay when it ends in a call.
    fn exposes_locals(&mut self, method: MethodId) -> bool {
        let program = self.program;
        *self.exposes.entry(method).or_insert_with(|| {
            let mut exposes = false;
            program[method].body.root.walk(&mut |e| {
                exposes |= match &e.kind {
                    ExprKind::AddressOf(place) => is_in_variable(place),
                    ExprKind::Convert(from) => matches!(from.ty, Type::Array(..)) && is_in_variable(from),
                    ExprKind::CBlock(_) => true,
                    _ => false,
                }
            });
            exposes
        })
    }

    /// Makes an object of exactly `module` at an address.
    pub(super) fn construct_at(
        &mut self,
        address: u64,
        module: ModuleId,
        args: Vec<Value>,
        span: Span,
    ) -> Eval<()> {
        let size = self.objects.module_size(module);
        let bytes = self.memory.bytes_mut(address, size).at(span)?;
        self.objects.mark(bytes, module);
        let method = self.program[module].constructor;
        self.invoke(Invocation { method, this: address, args, span })?;
        Ok(())
    }

    pub(super) fn this(&self) -> u64 {
        self.frame.this
    }

    /// Where a variable of the running method lies.
    pub(super) fn local(&self, local: LocalId) -> Result<u64, TrapKind> {
        self.frame.locals.get(local.0 as usize).copied().ok_or(TrapKind::BrokenTree)
    }

    /// The type of a variable of the running method.
    pub(super) fn local_type(&self, local: LocalId) -> Result<&'p Type, TrapKind> {
        let program = self.program;
        let locals = self.frame.method.map(|method| &program[method].body.locals);
        locals.and_then(|l| l.get(local.0 as usize)).map(|l| &l.ty).ok_or(TrapKind::BrokenTree)
    }

    /// Where a string lies. Strings with the same characters are one.
    pub(super) fn string(&mut self, text: &'p [u8]) -> Result<u64, TrapKind> {
        if let Some(&address) = self.strings.get(text) {
            return Ok(address);
        }
        let address = self.memory.constant(&[text, b"\0"].concat())?;
        self.strings.insert(text, address);
        Ok(address)
    }

    /// Has the host do what C code would do.
    pub(super) fn c_code(&mut self, block: &CBlock, operands: Vec<Operand>) -> Result<(), TrapKind> {
        let host = self.host.as_mut().ok_or(TrapKind::CBlock)?;
        let known = host(&mut CCode { block, operands, memory: &mut self.memory })?;
        if known { Ok(()) } else { Err(TrapKind::CBlock) }
    }
}

/// Whether a value is one of this type. Whether a pointer points to the right thing nobody can say.
fn fits(ty: &Type, value: &Value) -> bool {
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) | (Type::Pointer(_), Value::Pointer(_)) => true,
        (Type::Int(int), Value::Int(other, value)) => int == other && int.wrap(*value) == *value,
        (Type::Module(m), Value::Object(module, _)) => m.module == *module,
        _ => false,
    }
}

/// Whether a place is part of a variable.
fn is_in_variable(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Local(_) => true,
        ExprKind::Field(object, _) => is_in_variable(object),
        _ => false,
    }
}
