//! StationTable: the stations of an access point.

use super::super::params::debug_handler;
use clickwork_router::{Class, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "stands for the stations of an access point",
    manual: "Old configurations declare it. In Click 2.1 no element writes into it or reads from it, so it holds nothing \
             but the flag of its handler: AssociationResponder counts stations itself, and AvailableRates knows their rates.",
    example: "s :: StationTable; DriverManager(print s.debug, stop)",
    ports: "0/0",
    handlers: &[debug_handler!(StationTable)],
    ..Class::new("StationTable", "wifi/ap", || Box::<StationTable>::default())
};

#[derive(Default)]
struct StationTable {
    debug: bool,
}

impl Element for StationTable {}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn it_has_a_flag() {
        let mut t = Harness::new("s :: StationTable");
        t.write("s.debug true").unwrap();
        assert_eq!(t.read("s.debug"), "true\n");
    }
}
