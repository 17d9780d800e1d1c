//! What became of each call, for `--explain`.

use std::fmt;

use clickwork_source::Span;

use crate::program::{MethodId, ModuleId};

/// What the optimiser did with a program.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The calls in methods that can run, by caller, then in the order of evaluation.
    pub calls: Vec<CallSite>,
}

impl Report {
    /// The calls in the body of a method, as it was written.
    pub fn calls_in(&self, caller: MethodId) -> impl Iterator<Item = &CallSite> {
        self.calls.iter().filter(move |site| site.caller == caller)
    }

    /// How many calls were replaced by the body of what they call. Copies of inlined bodies are not counted.
    pub fn inlined(&self) -> usize {
        self.calls.iter().filter(|site| site.fate == Fate::Inlined).count()
    }
}

/// One call.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// In the body of which method.
    pub caller: MethodId,
    /// Where.
    pub span: Span,
    /// The definition that the static type of the receiver has, or the constructor.
    pub method: MethodId,
    /// The static type of the receiver, if the call is dispatched by the language's rules.
    pub dispatched_on: Option<ModuleId>,
    /// The definitions that can be called: one if the call is direct.
    pub targets: Vec<MethodId>,
    /// What became of it.
    pub fate: Fate,
}

/// Whether a call was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The body is there instead.
    Inlined,
    /// It is a call, for this reason.
    Kept(Reason),
}

/// Why a call was not inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Inlining is switched off.
    Disabled,
    /// Several definitions can be called.
    Dynamic,
    /// `noinline` or `inline[0]`.
    Forbidden,
    /// The method is being inlined already.
    Recursive,
    /// The body has C code that must stand once and alone: `return`, `goto`, labels, `static`.
    Pinned,
    /// The method has no body.
    Missing,
    /// Nobody asked for it, and the body has so many nodes.
    NotAsked(u32),
    /// The result would be too large.
    TooLarge,
    /// The result would be nested too deeply.
    TooDeep,
    /// The constructor sets the object's run-time type, which dispatches need; or it makes an array or a temporary.
    Construction,
    /// The call went away for another reason: its value was known, or it cannot be reached.
    Gone,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Inlined => f.write_str("inlined"),
            Fate::Kept(reason) => write!(f, "{reason}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Disabled => "not inlined: inlining is off",
            Reason::Dynamic => "not inlined: dispatched at run time",
            Reason::Forbidden => "not inlined: `noinline`",
            Reason::Recursive => "not inlined: recursive, one level only",
            Reason::Pinned => "not inlined: its C code must not be copied",
            Reason::Missing => "not inlined: it has no body",
            Reason::NotAsked(nodes) => {
                return write!(f, "not inlined: nobody asks for it, and it has {nodes} nodes");
            }
            Reason::TooLarge => "not inlined: the caller would be too large",
            Reason::TooDeep => "not inlined: the caller would be nested too deeply",
            Reason::Construction => "not inlined: the constructor sets the object's type",
            Reason::Gone => "gone: its value is known, or it is never reached",
        })
    }
}
