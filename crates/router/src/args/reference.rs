//! References to elements and handlers, as names. Finding what they name is the router's job.

use super::split::word_end;
use super::{BadValue, FromArg, Names, Word};

/// The name of an element, as written: relative to the compound element around the one that is configured.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementRef(pub String);

impl FromArg for ElementRef {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        Word::from_arg(text, names).map(|word| ElementRef(word.0))
    }
}

/// `element.handler`, or a handler of the router as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HandlerRef {
    /// The element, or none for the router's own handlers.
    pub element: Option<ElementRef>,
    /// The handler.
    pub handler: String,
}

impl FromArg for HandlerRef {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let name = Word::from_arg(text, names)?.0;
        // Element names have no dots, handler names may.
        let (element, handler) = match name.split_once('.') {
            Some(("", handler)) => (None, handler),
            Some((element, handler)) => (Some(ElementRef(element.to_owned())), handler),
            None => (None, name.as_str()),
        };
        if handler.is_empty() {
            return Err(format!("'{name}' names no handler, expected 'element.handler'").into());
        }
        Ok(Self { element, handler: handler.to_owned() })
    }
}

impl std::fmt::Display for HandlerRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(element) = &self.element {
            write!(f, "{}.", element.0)?;
        }
        f.write_str(&self.handler)
    }
}

/// A handler and the text to give it: `element.handler value...`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HandlerCall {
    /// What to call.
    pub target: HandlerRef,
    /// The value, still quoted; empty if there is none.
    pub value: String,
}

impl FromArg for HandlerCall {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let (target, value) = text.split_at(word_end(text.as_bytes(), 0));
        let target = HandlerRef::from_arg(target, names)?;
        Ok(Self { target, value: super::split::uncomment(value) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromArg>(text: &str) -> Result<T, BadValue> {
        T::from_arg(text, &Names::default())
    }

    fn handler(element: Option<&str>, handler: &str) -> HandlerRef {
        HandlerRef { element: element.map(|name| ElementRef(name.to_owned())), handler: handler.to_owned() }
    }

    #[test]
    fn handlers_belong_to_an_element_or_the_router() {
        assert_eq!(read("a/b.count"), Ok(handler(Some("a/b"), "count")));
        assert_eq!(read("stop"), Ok(handler(None, "stop")));
        assert_eq!(read(".stop"), Ok(handler(None, "stop")));
        assert_eq!(read("a.x.y"), Ok(handler(Some("a"), "x.y")));
        for text in ["", "a.", "a b"] {
            assert!(read::<HandlerRef>(text).is_err(), "{text}");
        }
        assert_eq!(handler(Some("a"), "x").to_string(), "a.x");
    }

    #[test]
    fn a_call_has_a_value() {
        let call = read::<HandlerCall>("q.capacity  10 \"x y\"").unwrap();
        assert_eq!((call.target, call.value.as_str()), (handler(Some("q"), "capacity"), "10 \"x y\""));
        assert_eq!(read::<HandlerCall>("c.reset").unwrap().value, "");
        assert!(read::<HandlerCall>("").is_err());
    }
}
