//! Handler calls in the middle of a packet: what the handler does must be done before the packet is dealt with.
//!
//! In push that is [`call_then`], in pull [`call_now`].

use clickwork_packet::Packet;
use clickwork_router::args::{FromArg, HandlerCall, Names, unquote};
use clickwork_router::element::downcast;
use clickwork_router::handler::Action;
use clickwork_router::{Cx, Element};
use std::collections::VecDeque;

/// What is counted when a call fails for many packets.
const FAILED: &str = "a handler call failed";

/// Calls a handler at once if it is one of the element's own; others may belong to elements that wait for the packet, and
/// are called as soon as the element returns.
pub fn call_now(element: &mut dyn Element, call: &HandlerCall, cx: &mut Cx<'_>) {
    let target = match cx.router().resolve_ref(&call.target, cx.id()) {
        Ok(target) => target,
        Err(e) => return cx.report(FAILED, || e.to_string()),
    };
    let value = unquote(&call.value);
    let outcome = if target.element == Some(cx.id()) {
        let own = cx.info().class.handlers.iter().find(|h| h.name == target.handler);
        match own.and_then(|handler| handler.write) {
            Some(Action::Element(write)) => write(element, &value, cx).map(drop),
            _ => return cx.call_handler(call),
        }
    } else {
        return cx.call_handler(call);
    };
    if let Err(e) = outcome {
        cx.report(FAILED, || e);
    }
}

/// Packets that wait while a handler is called.
pub type Rest = VecDeque<Packet>;

/// In push: calls a handler as soon as the element returns, then lets it go on with `rest`. So the handler finds the
/// element idle, whoever calls it back; what has been emitted before is delivered after both, in order.
pub fn call_then<E: Element>(
    call: &HandlerCall,
    rest: Rest,
    cx: &mut Cx<'_>,
    go_on: fn(&mut E, Rest, &mut Cx<'_>),
) {
    let (me, call) = (cx.id(), call.clone());
    cx.defer(move |router| {
        // All that the handler leaves to be done is done when this returns.
        let target = router.resolve_ref(&call.target, me);
        if let Err(e) = target.and_then(|target| router.write_target(&target, &unquote(&call.value))) {
            router.report(me, FAILED, || e.to_string());
        }
        router.with_element(me, |element, cx| go_on(downcast(element), rest, cx));
    });
}

/// A number and a handler to call when something reaches it, as arguments and handlers give them: `N HANDLER [VALUE]`.
pub struct CallAt<N> {
    /// When.
    pub at: N,
    /// What.
    pub call: HandlerCall,
}

impl<N: FromArg + std::fmt::Display> CallAt<N> {
    /// Reads one; `wrong` is what to say if there is no number.
    ///
    /// # Errors
    /// If the first word is not a number or the rest names no handler.
    pub fn parse(text: &str, names: &Names, wrong: &str) -> Result<CallAt<N>, String> {
        let text = text.trim();
        let (at, call) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let at = N::from_arg(at, names).map_err(|_| wrong.to_owned())?;
        let call =
            HandlerCall::from_arg(call.trim(), names).map_err(|_| format!("'{call}' is not a handler"))?;
        Ok(CallAt { at, call })
    }

    /// As handlers show it; nothing if there is none.
    pub fn show(call: Option<&CallAt<N>>) -> String {
        call.map_or_else(String::new, |c| format!("{} {}", c.at, c.call.to_string().trim_end()))
    }
}

/// The call with `$t` in its value replaced by the packet's timestamp.
pub fn with_time(call: &HandlerCall, p: &Packet) -> HandlerCall {
    let time = p.timestamp().to_string();
    let mut value = String::new();
    let mut rest = call.value.as_str();
    while let Some(at) = rest.find('$') {
        value.push_str(&rest[..at]);
        rest = &rest[at..];
        let variable =
            ["${t}", "$t"].into_iter().find(|v| rest.starts_with(v) && ends_word(v, &rest[v.len()..]));
        let taken = variable.map_or(1, str::len);
        value.push_str(variable.map_or("$", |_| &time));
        rest = &rest[taken..];
    }
    HandlerCall { target: call.target.clone(), value: value + rest }
}

/// Whether a variable's name ends where `rest` begins.
fn ends_word(variable: &str, rest: &str) -> bool {
    variable.ends_with('}') || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::Timestamp;

    #[test]
    fn the_time_stands_for_its_variable_only() {
        let mut p = Packet::new(b"");
        p.set_timestamp(Timestamp::new(5, 0));
        let call = HandlerCall::from_arg("a.b $t ${t}s $time $ t$", &Names::default()).unwrap();
        assert_eq!(with_time(&call, &p).value.trim(), "5.000000 5.000000s $time $ t$");
    }
}
