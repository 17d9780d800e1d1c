//! Elements that only tools read: they take part in a configuration and do nothing in a router.

use clickwork_router::args::{ArgSpec, ArgType};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Element};

/// Facts for Clicky.
pub static CLICKY_INFO: Class = Class {
    help: "tells Clicky how to draw the configuration",
    manual: "Holds a style sheet and other directions for Clicky, a program that draws configurations. Routers ignore it.",
    ..class("ClickyInfo", ANYTHING)
};

/// Facts for click-devirtualize.
pub static DEVIRTUALIZE_INFO: Class = Class {
    help: "tells click-devirtualize which elements to leave alone",
    manual: "Names elements and classes that click-devirtualize must not specialise. Routers ignore it.",
    ..class("DevirtualizeInfo", ANYTHING)
};

/// Facts about flows.
pub static FLOW_INFO: Class = Class {
    help: "tells tools how packets flow through elements",
    manual: "Tells tools how packets flow through elements whose class does not say it. Routers ignore it.",
    ..class("FlowInfo", ANYTHING)
};

/// The names of header fields, which are always known.
pub static IP_FIELD_INFO: Class = Class {
    help: "stands for the built-in names of IP header fields",
    manual: "The names that filters have for header fields are always known; configurations need not mention this class.",
    ..class("IPFieldInfo", &[])
};

/// The names of IP protocols and the like, which are always known.
pub static IP_NAME_INFO: Class = Class {
    help: "stands for the built-in names of IP protocols, ports and ICMP types",
    manual: "The names of IP protocols, ports, ICMP types and codes are always known; configurations need not mention \
             this class.",
    ..class("IPNameInfo", &[])
};

const fn class(name: &'static str, args: &'static [ArgSpec]) -> Class {
    Class { ports: "0/0", phase: phase::INFO, args, ..Class::new(name, "info", || Box::new(ForTools)) }
}

const ANYTHING: &[ArgSpec] = &[ArgSpec::rest("ENTRY", ArgType::Text, "directions for the tool")];

struct ForTools;

impl Element for ForTools {}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn routers_take_them_in_silence() {
        let mut t = Harness::new(
            "ClickyInfo(STYLE #a { x: y }); DevirtualizeInfo(a, b c); FlowInfo(x/y); IPNameInfo(); IPFieldInfo",
        );
        assert_eq!(t.printed(), "");
        assert!(Harness::errors("IPNameInfo(tcp 6)").contains("IPNameInfo@1"));
    }
}
