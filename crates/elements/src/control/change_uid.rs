//! ChangeUID: gives up privileges once they are no longer needed.

use crate::capture::error::system_message;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives up privileges of a set-user-ID program",
    manual: "When the router starts, the effective user and group of this process become its real ones, for good. That has an \
             effect if the program's file belongs to root and has the set-user-ID bit: elements that are initialised \
             earlier, those above this one in the configuration, can open devices. A router that is started by root goes \
             on as root.",
    example: "ChangeUID; InfiniteSource(LIMIT 5, STOP true) -> Discard",
    ports: "0/0",
    ..Class::new("ChangeUID", "control", || Box::new(ChangeUid))
};

struct ChangeUid;

impl Element for ChangeUid {
    fn initialize(&mut self, _: &mut Cx<'_>) -> Result<(), String> {
        clickwork_device::drop_privilege()
            .map_err(|e| format!("could not drop privilege: {}", system_message(&e)))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn a_process_without_privileges_stays_as_it_is() {
        let before = rustix::process::geteuid();
        Harness::new("ChangeUID; Idle -> Discard").run();
        assert_eq!(before, rustix::process::getuid());
        assert_eq!(rustix::process::geteuid(), rustix::process::getuid());
    }
}
