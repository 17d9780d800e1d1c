//! Error: an element that cannot be.

use clickwork_router::args::{ArgSpec, ArgType};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "stops the router from starting",
    manual: "Has any ports and takes any arguments, and always fails to initialise. Tools put it in the place of elements \
             that they cannot make.",
    ports: "-/-",
    flow: "x/y",
    args: &[ArgSpec::rest("ARGUMENT", ArgType::Text, "anything")],
    ..Class::new("Error", "info", || Box::new(Error))
};

struct Error;

impl Element for Error {
    fn initialize(&mut self, _: &mut Cx<'_>) -> Result<(), String> {
        Err("unspecified error".to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn it_fails_once_everything_is_configured() {
        let e = Harness::errors("Idle -> e :: Error(what, EVER it takes) -> Discard");
        assert!(e.contains("While initializing 'e :: Error'"), "{e}");
    }
}
