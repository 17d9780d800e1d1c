//! References to elements and handlers, as names. Finding what they name is the router's job.

use std::fmt;

use super::split::{uncomment, word_end};
use super::{BadValue, FromArg, Names, Word};

/// The name of an element, as written: relative to the compound element around the one that is configured.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementRef(pub String);

impl FromArg for ElementRef {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        Word::from_arg(text, names).map(|word| ElementRef(word.0))
    }
}

/// Whose handler is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HandlerOwner {
    /// The element of this name: `element.handler`.
    Element(ElementRef),
    /// The router as a whole: `.handler`.
    Router,
    /// The element that is configured if it has such a handler, else the router as a whole: `handler`.
    SelfOrRouter,
}

/// The name of a handler and of whom it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HandlerRef {
    /// Whose it is.
    pub owner: HandlerOwner,
    /// The handler.
    pub handler: String,
}

impl FromArg for HandlerRef {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let name = String::from_arg(text, names)?;
        // Element names have no dots, handler names may.
        let (owner, handler) = match name.split_once('.') {
            Some(("", handler)) => (HandlerOwner::Router, handler),
            Some((element, handler)) => (HandlerOwner::Element(ElementRef(element.to_owned())), handler),
            None => (HandlerOwner::SelfOrRouter, name.as_str()),
        };
        if handler.is_empty() {
            return Err(format!("'{name}' names no handler, expected 'element.handler'").into());
        }
        Ok(Self { owner, handler: handler.to_owned() })
    }
}

impl fmt::Display for HandlerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.owner {
            HandlerOwner::Element(element) => write!(f, "{}.{}", element.0, self.handler),
            HandlerOwner::Router => write!(f, ".{}", self.handler),
            HandlerOwner::SelfOrRouter => f.write_str(&self.handler),
        }
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
        Ok(Self { target, value: uncomment(value) })
    }
}

impl fmt::Display for HandlerCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.target, self.value.trim_start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromArg>(text: &str) -> Result<T, BadValue> {
        T::from_arg(text, &Names::default())
    }

    fn handler(owner: HandlerOwner, handler: &str) -> HandlerRef {
        HandlerRef { owner, handler: handler.to_owned() }
    }

    fn of_element(name: &str) -> HandlerOwner {
        HandlerOwner::Element(ElementRef(name.to_owned()))
    }

    #[test]
    fn handlers_belong_to_an_element_or_the_router() {
        for (text, expected) in [
            ("a/b.count", handler(of_element("a/b"), "count")),
            ("a.x.y", handler(of_element("a"), "x.y")),
            (".stop", handler(HandlerOwner::Router, "stop")),
            ("stop", handler(HandlerOwner::SelfOrRouter, "stop")),
        ] {
            assert_eq!(expected.to_string(), text);
            assert_eq!(read(text), Ok(expected));
        }
        for text in ["", "a.", ".", "a b", "''"] {
            assert!(read::<HandlerRef>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_call_has_a_value() {
        let call = read::<HandlerCall>("q.capacity  10 \"x y\"").unwrap();
        assert_eq!((call.target, call.value.as_str()), (handler(of_element("q"), "capacity"), "10 \"x y\""));
        assert_eq!(read::<HandlerCall>("c.reset").unwrap().value, "");
        assert!(read::<HandlerCall>("").is_err());
    }
}
