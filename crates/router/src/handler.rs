//! Handlers: named access points of an element, read and written between packets.
//!
//! A class declares its handlers in its facts with [`read_handler!`](crate::read_handler),
//! [`write_handler!`](crate::write_handler) and their relatives. A handler that must act on other elements (those of
//! Script) is a *router handler*: it runs with the whole router in hand and no element borrowed.

use crate::cx::Cx;
use crate::element::Element;
use crate::router::{ElementId, Router};
use clickwork_source::text;
use std::fmt;

/// What a read handler returns: bytes, mostly made of [text](clickwork_source::text).
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Value(pub Vec<u8>);

impl Value {
    /// The value as text, which keeps all its bytes.
    pub fn text(&self) -> String {
        text::decode(&*self.0)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

macro_rules! value_from {
    ($($t:ty),*) => { $(impl From<$t> for Value {
        fn from(v: $t) -> Value { Value(text::into_bytes(v.to_string())) }
    })* };
}
value_from!(u8, u16, u32, u64, usize, i32, i64, bool, f64, &str, clickwork_packet::Timestamp);

impl From<String> for Value {
    fn from(s: String) -> Value {
        Value(text::into_bytes(s))
    }
}

impl From<Vec<u8>> for Value {
    fn from(b: Vec<u8>) -> Value {
        Value(b)
    }
}

/// Why a handler call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerError {
    /// The element has no such handler.
    NoHandler(String),
    /// There is no such element.
    NoElement(String),
    /// The handler exists but cannot be read, or cannot be written.
    WrongKind(String),
    /// The handler refused, and says why.
    Failed(String),
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandlerError::NoHandler(s)
            | HandlerError::NoElement(s)
            | HandlerError::WrongKind(s)
            | HandlerError::Failed(s) => f.write_str(s),
        }
    }
}

impl std::error::Error for HandlerError {}

/// What the body of a handler may evaluate to.
pub trait IntoResult {
    /// As a result.
    fn into_result(self) -> Result<Value, String>;
}

impl<T: Into<Value>> IntoResult for T {
    fn into_result(self) -> Result<Value, String> {
        Ok(self.into())
    }
}

impl<T: Into<Value>> IntoResult for Result<T, String> {
    fn into_result(self) -> Result<Value, String> {
        self.map(Into::into)
    }
}

impl IntoResult for () {
    fn into_result(self) -> Result<Value, String> {
        Ok(Value::default())
    }
}

impl IntoResult for Result<(), String> {
    fn into_result(self) -> Result<Value, String> {
        self.map(|()| Value::default())
    }
}

/// A handler function that sees its own element. The text is the parameter of a read or the value of a write.
pub type ElementFn = fn(&mut dyn Element, &str, &mut Cx<'_>) -> Result<Value, String>;
/// A handler function that acts on the router.
pub type RouterFn = fn(&mut Router, ElementId, &str) -> Result<Value, String>;

/// How a handler is carried out.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// By its element alone.
    Element(ElementFn),
    /// With the whole router.
    Router(RouterFn),
}

/// What the members of a family of handlers, `name0`, `name1`, ..., stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Members {
    /// The inputs and the outputs.
    Ports,
    /// The inputs.
    Inputs,
    /// The outputs.
    Outputs,
}

/// Which elements have a handler in their lists. Others answer all the same, with what it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listed {
    /// All.
    Always,
    /// Those that pull from their first input.
    IfPulling,
    /// Those that have inputs.
    IfInputs,
    /// Those for which this truth value is true.
    IfTrue(&'static str),
}

/// One handler of a class.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// The name, as in `element.name`.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What reading does, if it can be read.
    pub read: Option<Action>,
    /// What writing does, if it can be written.
    pub write: Option<Action>,
    /// Whether reading takes a parameter.
    pub parameter: bool,
    /// Whether this is a family of numbered handlers `name0`, `name1`, ...: the number comes first in the text.
    pub numbered: Option<Members>,
    /// Whether it is only for the configuration itself: control connections see no such handler.
    pub private: bool,
    /// Whether its value is data that stands as it is: no end of line is added where it is printed.
    pub raw: bool,
    /// What the list of handlers shows besides; see [`Handler::flags`].
    pub flags: &'static str,
    /// Which elements list it.
    pub listed: Listed,
    /// Whether its value shows keys: those who may not write see [`HIDDEN`](crate::args::HIDDEN) instead.
    pub secret: bool,
}

impl Handler {
    /// A handler with nothing yet, for the macros and for `..Handler::none()`.
    pub const fn none(name: &'static str, help: &'static str) -> Handler {
        Handler {
            name,
            help,
            read: None,
            write: None,
            parameter: false,
            numbered: None,
            private: false,
            raw: false,
            flags: "",
            listed: Listed::Always,
            secret: false,
        }
    }

    /// The same handler, which can also be written.
    pub const fn and_write(mut self, other: Handler) -> Handler {
        self.write = other.write;
        self
    }

    /// The same handler as a family `name0`, `name1`, ...; see [`Handler::numbered`]. The number is no parameter.
    pub const fn numbered(mut self, members: Members) -> Handler {
        self.numbered = Some(members);
        self.parameter = false;
        self
    }

    /// The same handler, whose value is printed as it is; see [`Handler::raw`].
    pub const fn raw(mut self) -> Handler {
        self.raw = true;
        self
    }

    /// The same handler, whose value is not for everybody; see [`Handler::secret`].
    pub const fn secret(mut self) -> Handler {
        self.secret = true;
        self
    }

    /// The same handler with the letters that Click's list of handlers has for it, for programs that show it: `.` for a value
    /// that seldom changes, `$` for one that is expensive to read, `U` for uncommon, `D` for deprecated, `b` for a button (what
    /// is written does not matter), `c` for a truth value to tick; in this order.
    pub const fn flags(mut self, flags: &'static str) -> Handler {
        self.flags = flags;
        self
    }

    /// The same handler, which only some elements list; see [`Handler::listed`].
    pub const fn listed(mut self, listed: Listed) -> Handler {
        self.listed = listed;
        self
    }

    /// What the list of handlers shows of it: `r` and `w` if it can be read and written, `+` if reading takes a parameter, `%`
    /// if its value is raw, then the [flags](Handler::flags).
    pub fn letters(&self) -> String {
        let when = |is: bool, letter: &'static str| if is { letter } else { "" };
        let (read, write) = (when(self.read.is_some(), "r"), when(self.write.is_some(), "w"));
        [read, write, when(self.parameter, "+"), when(self.raw, "%"), self.flags].concat()
    }

    /// The same handler, hidden from control connections; see [`Handler::private`].
    pub const fn private(mut self) -> Handler {
        self.private = true;
        self
    }
}

/// `read_handler!("count", "packets seen", |e: &mut Counter, cx| e.count)`: a handler that can be read.
#[macro_export]
macro_rules! read_handler {
    ($name:expr, $help:expr, |$e:tt : &mut $t:ty, $cx:pat_param| $body:expr) => {
        $crate::handler::Handler {
            read: Some($crate::handler::Action::Element(|element, _, $cx| {
                let $e: &mut $t = $crate::element::downcast(element);
                $crate::handler::IntoResult::into_result($body)
            })),
            ..$crate::handler::Handler::none($name, $help)
        }
    };
}

/// `read_param_handler!("lookup", "the route of an address", |e: &mut T, text, cx| ...)`: reading takes a parameter.
#[macro_export]
macro_rules! read_param_handler {
    ($name:expr, $help:expr, |$e:tt : &mut $t:ty, $text:pat_param, $cx:pat_param| $body:expr) => {
        $crate::handler::Handler {
            read: Some($crate::handler::Action::Element(|element, $text, $cx| {
                let $e: &mut $t = $crate::element::downcast(element);
                $crate::handler::IntoResult::into_result($body)
            })),
            parameter: true,
            ..$crate::handler::Handler::none($name, $help)
        }
    };
}

/// `write_handler!("reset", "sets the counts to 0", |e: &mut Counter, text, cx| e.reset())`: can be written.
#[macro_export]
macro_rules! write_handler {
    ($name:expr, $help:expr, |$e:tt : &mut $t:ty, $text:pat_param, $cx:pat_param| $body:expr) => {
        $crate::handler::Handler {
            write: Some($crate::handler::Action::Element(|element, $text, $cx| {
                let $e: &mut $t = $crate::element::downcast(element);
                $crate::handler::IntoResult::into_result($body)
            })),
            ..$crate::handler::Handler::none($name, $help)
        }
    };
}
