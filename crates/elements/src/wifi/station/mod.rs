//! Stations: finding networks, authenticating with one, joining it.

mod association_requester;
mod beacon_scanner;
mod beacon_tracker;
#[cfg(test)]
mod dialogue;
mod open_auth_requester;
mod probe_requester;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: [&Class; 5] = [
    &association_requester::CLASS,
    &beacon_scanner::CLASS,
    &beacon_tracker::CLASS,
    &open_auth_requester::CLASS,
    &probe_requester::CLASS,
];
