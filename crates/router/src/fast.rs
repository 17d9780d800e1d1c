//! Fast paths: the common case of an element's action, as code that the router compiler can inline along a path.
//!
//! A fast path is a small file of Rust with a struct `Constants`, what it needs to know of an element, and a function
//!
//! ```text
//! pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16>
//! ```
//!
//! `Some(port)` says that the packet has been dealt with exactly as the element would have done, that it leaves by
//! `port`, which the element has, and that nothing else happened that anybody could see: nothing counted, dropped, sent or
//! said, no time read, no random number drawn. `None` says that nothing at all has happened, to the packet neither, and
//! that the element must be asked. The function does not panic, does not allocate, and depends on `std` and
//! `clickwork_packet` (without header views) alone: the compiler copies its text into what it generates.
//!
//! The element calls the same function first in its own action ([`Fast::common`]), so that interpreted packets are fast
//! too. A fast path that never says `None` is the whole definition. Copy `crates/elements/src/ip/dec_ip_ttl.rs` and
//! `ip/fast/dec_ip_ttl.rs`.

use crate::element::{Element, try_downcast_ref};
use clickwork_packet::Packet;
use std::borrow::Cow;
use std::fmt;

/// An element that has a fast path.
pub trait Fast: Element {
    /// The code for this element as it is configured now, or `None` if every packet needs the element itself. Asked for
    /// again when one of its handlers has been written: while the answer is another one, compiled code is not used.
    fn fast_code(&self) -> Option<FastCode>;

    /// What that code does to a packet. Not called where [`Fast::fast_code`] is `None`.
    fn fast(&self, p: &mut Packet) -> Option<u16>;

    /// The same, as the element's own action begins: where the fast path says `None`, the action goes on with the whole
    /// definition of what the element does. So tests can turn the fast path off ([`without`]) and compare.
    #[inline(always)]
    fn common(&self, p: &mut Packet) -> Option<u16> {
        if is_off() { None } else { self.fast(p) }
    }
}

#[cfg(debug_assertions)]
thread_local! {
    static OFF: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs `action` while elements do without their fast paths, on this thread. Builds for users cannot.
#[cfg(debug_assertions)]
pub fn without<R>(action: impl FnOnce() -> R) -> R {
    let before = OFF.replace(true);
    let result = action();
    OFF.set(before);
    result
}

#[inline(always)]
fn is_off() -> bool {
    #[cfg(debug_assertions)]
    let off = OFF.get();
    #[cfg(not(debug_assertions))]
    let off = false;
    off
}

/// The code of one element's fast path.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct FastCode {
    /// A name for the module, in Rust's style.
    pub module: &'static str,
    /// The text of the module.
    pub source: Cow<'static, str>,
    /// The element's `Constants`, as a Rust expression that sees the module's items. It becomes a constant `ELEMENT` of the
    /// module, or `ELEMENT_2` and so on.
    pub constants: String,
}

impl FastCode {
    /// Code from a file, with constants whose `Debug` form is a Rust expression, as it is for structs of numbers,
    /// booleans, options, arrays and such structs.
    pub fn new(module: &'static str, source: &'static str, constants: &dyn fmt::Debug) -> FastCode {
        FastCode { module, source: source.into(), constants: format!("{constants:?}") }
    }
}

/// The fast path of a class, for [`Class::fast`](crate::Class::fast).
#[derive(Clone, Copy, Debug)]
pub struct FastPath {
    code: fn(&dyn Element) -> Option<FastCode>,
    run: fn(&dyn Element, &mut Packet) -> Option<u16>,
    emits_all: bool,
    changes: bool,
}

impl FastPath {
    /// That of the type that the class makes.
    pub const fn of<T: Fast>() -> FastPath {
        FastPath {
            code: |e| try_downcast_ref::<T>(e)?.fast_code(),
            run: |e, p| try_downcast_ref::<T>(e)?.fast(p),
            emits_all: false,
            changes: false,
        }
    }

    /// For an element that, if there is anything to emit, emits all packets of a batch in order and leaves none in place: as
    /// IPFragmenter, whose fragments must not overtake whole packets.
    pub const fn emitting_all(self) -> FastPath {
        FastPath { emits_all: true, ..self }
    }

    /// For an element whose code is likely to change while the router runs, such as a table of routes: there is compiled code
    /// without it as well, for when that has happened.
    pub const fn changing(self) -> FastPath {
        FastPath { changes: true, ..self }
    }

    /// Whether the element's code is likely to change.
    pub fn changes(&self) -> bool {
        self.changes
    }

    /// Whether the element emits all packets of a batch if it emits any.
    pub(crate) fn emits_all(&self) -> bool {
        self.emits_all
    }

    /// The code for an element of the class.
    pub fn code(&self, e: &dyn Element) -> Option<FastCode> {
        (self.code)(e)
    }

    /// Runs the fast path of an element of the class, without the compiler.
    pub fn run(&self, e: &dyn Element, p: &mut Packet) -> Option<u16> {
        (self.run)(e, p)
    }
}

/// The text of a fast path that is made of others, which it knows as `super::NAME`. The others come as names and texts.
pub fn with_parts(source: &str, parts: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        text += &format!("pub mod {name} {{\n{part}}}\n");
    }
    text + &format!("mod whole {{\n{source}}}\npub use whole::*;\n")
}

/// Implements [`Fast`] for an element that keeps the `Constants` of its fast path in a field `constants`, or, with `()`
/// behind the name, makes them in a method `constants`. The fast path is the module `fast::NAME` beside the element's own,
/// in the file `fast/NAME.rs`.
#[macro_export]
macro_rules! fast_path {
    ($element:ty, $name:ident $($call:tt)?) => {
        impl $crate::Fast for $element {
            fn fast_code(&self) -> Option<$crate::FastCode> {
                let source = include_str!(concat!("fast/", stringify!($name), ".rs"));
                Some($crate::FastCode::new(stringify!($name), source, &self.constants $($call)?))
            }

            #[inline]
            fn fast(&self, p: &mut clickwork_packet::Packet) -> Option<u16> {
                super::fast::$name::fast(&self.constants $($call)?, p)
            }
        }
    };
}
