//! What the elements of this family share: handlers that are one parameter, messages, and the elements that arguments
//! name.

use crate::named::element_of;
use clickwork_packet::addr::EtherAddress;
use clickwork_router::args::{Args, FromArg};
use clickwork_router::{Class, Cx, ElementId};
use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

/// The value of a handler, on a line.
pub fn line(value: impl Display) -> String {
    format!("{value}\n")
}

/// Reads a value into `slot`; for handlers that set a field and have a message of their own.
///
/// # Errors
/// With that message, if the text is not of the type.
pub fn set<T: FromArg>(slot: &mut T, text: &str, cx: &Cx<'_>, message: &str) -> Result<(), String> {
    *slot = T::from_arg(text.trim(), &cx.names()).map_err(|_| message.to_string())?;
    Ok(())
}

/// A handler that reads and sets one field: `parameter!(Class, "name", field, "help", "message for wrong values")`.
macro_rules! parameter {
    ($t:ty, $name:expr, $($field:ident).+, $help:expr, $message:expr) => {
        clickwork_router::read_handler!($name, $help, |e: &mut $t, _| $crate::wifi::params::line(&e.$($field).+))
            .and_write(clickwork_router::write_handler!("", "", |e: &mut $t, text, cx| {
                $crate::wifi::params::set(&mut e.$($field).+, text, cx, $message)
            }))
    };
}
pub(super) use parameter;

/// The handler `debug` that most elements of this family have.
macro_rules! debug_handler {
    ($t:ty) => {
        $crate::wifi::params::parameter!(
            $t,
            "debug",
            debug,
            "whether it tells what it does",
            "debug parameter must be boolean"
        )
    };
}
pub(super) use debug_handler;

/// The argument that goes with it.
pub const DEBUG: clickwork_router::args::ArgSpec = clickwork_router::args::ArgSpec::keyword(
    "DEBUG",
    clickwork_router::args::ArgType::Bool,
    "false",
    "whether it tells what it does",
);

/// Prints a message of mine, as Click's elements do: with name and class.
pub fn say(cx: &Cx<'_>, message: impl Display) {
    cx.chatter(&format!("{}: {message}", declaration(cx)));
}

/// The same of something that whoever sends packets can bring about: not more often than is good.
pub fn complain(cx: &Cx<'_>, kind: &'static str, message: impl Display) {
    cx.report(kind, || format!("{}: {message}", declaration(cx)));
}

/// My name and class.
pub fn declaration(cx: &Cx<'_>) -> String {
    format!("{} :: {}", cx.name(), cx.info().class_name)
}

/// Another element that an argument names: configured with the argument, found before the router runs.
pub struct Partner<T> {
    element: Option<ElementId>,
    handle: Option<Arc<T>>,
}

impl<T> Default for Partner<T> {
    fn default() -> Self {
        Partner { element: None, handle: None }
    }
}

impl<T: Any + Send + Sync> Partner<T> {
    /// Reads the argument, whose element must be of a class.
    pub fn configure(&mut self, args: &mut Args, argument: &str, class: &Class, cx: &Cx<'_>) {
        let fits = |id| cx.router().info(id).class.name == class.name;
        self.element = element_of(args, argument, class.name, fits, cx);
    }

    /// Finds the element's handle.
    pub fn initialize(&mut self, cx: &Cx<'_>) {
        self.handle = self.element.and_then(|id| cx.exported(id));
    }

    /// The handle.
    pub fn get(&self) -> Option<&Arc<T>> {
        self.handle.as_ref()
    }
}

/// The address at an offset of a packet.
pub fn address_at(data: &[u8], offset: usize) -> Option<EtherAddress> {
    let bytes: [u8; 6] = data.get(offset..)?.get(..6)?.try_into().ok()?;
    Some(EtherAddress(bytes))
}
