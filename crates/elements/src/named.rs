//! Elements that arguments name.

use clickwork_router::Cx;
use clickwork_router::args::{Args, ElementRef};
use clickwork_router::router::ElementId;

/// The element that an argument names, if the argument is given. That there is none of the name is an error.
pub fn element(args: &mut Args, argument: &str, cx: &Cx<'_>) -> Option<ElementId> {
    let found = cx.find(&args.get::<ElementRef>(argument)?.0);
    if found.is_none() {
        args.error_in(argument, "does not name an element");
    }
    found
}

/// The same, of which it is an error too that the element does not fit; `expected` is the class or the kind that does.
pub fn element_of(
    args: &mut Args,
    argument: &str,
    expected: &str,
    fits: impl FnOnce(ElementId) -> bool,
    cx: &Cx<'_>,
) -> Option<ElementId> {
    let id = element(args, argument, cx)?;
    if fits(id) {
        return Some(id);
    }
    args.error_in(argument, format!("element type mismatch, expected {expected}"));
    None
}
