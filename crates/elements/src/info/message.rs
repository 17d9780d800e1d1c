//! Message: says something while the router is configured.

use clickwork_router::args::{ArgSpec, ArgType, Args, Word};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints a message while the router is configured",
    manual: "Prints MESSAGE when it is configured. With TYPE WARNING it is a warning; with TYPE ERROR it is an error, and \
             the router does not start.",
    example: "Message(\"This is a small router.\"); InfiniteSource(LIMIT 1, STOP true) -> Discard",
    ports: "0/0",
    args: &[
        ArgSpec::required("MESSAGE", ArgType::String, "what is said"),
        ArgSpec::positional(
            "TYPE",
            ArgType::Choice(&["MESSAGE", "WARNING", "ERROR"]),
            "MESSAGE",
            "how serious it is",
        ),
    ],
    ..Class::new("Message", "info", || Box::new(Message))
};

struct Message;

impl Element for Message {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let Some(message) = args.get::<String>("MESSAGE") else { return };
        let kind = args.get::<Word>("TYPE").map_or("MESSAGE".to_string(), |Word(kind)| kind);
        match kind.as_str() {
            "MESSAGE" => say("configuring", &message, cx),
            "WARNING" => say("configuring", &format!("warning: {message}"), cx),
            "ERROR" => args.error(message),
            _ => args.error("unrecognized message type"),
        }
    }
}

/// Prints a message about the element while it is being configured or initialized. Messages and warnings come at once, so
/// that they are in the order of the configuration.
pub(crate) fn say(doing: &str, message: &str, cx: &Cx<'_>) {
    let (landmark, name, class) = (&cx.info().landmark, cx.name(), &cx.info().class_name);
    let message = message.replace('\n', "\n  ");
    cx.chatter(&format!("{landmark}: While {doing} '{name} :: {class}':\n  {message}"));
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn it_speaks_while_it_is_configured() {
        let mut t = Harness::new("\nm :: Message(\"hello, world\")");
        assert_eq!(t.printed(), "config:2: While configuring 'm :: Message':\n  hello, world\n");
        let mut t = Harness::new("Message(beware, WARNING); Message(\"b\nc\")");
        let (first, second) = ("Message@1 :: Message", "Message@2 :: Message");
        let expected = format!(
            "config:1: While configuring '{first}':\n  warning: beware\n\
             config:1: While configuring '{second}':\n  b\n  c\n"
        );
        assert_eq!(t.printed(), expected);
    }

    #[test]
    fn an_error_stops_the_router() {
        let e = Harness::errors("Message(\"not here\", TYPE ERROR)");
        assert!(e.contains("While configuring 'Message@1 :: Message':\n  not here"), "{e}");
        assert!(Harness::errors("Message(x, LOUD)").contains("unrecognized message type"));
    }
}
