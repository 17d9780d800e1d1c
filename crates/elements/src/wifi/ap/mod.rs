//! Access points: beacons and probe responses, open authentication, association.

mod association_responder;
mod beacon_source;
mod identity;
mod open_auth_responder;
mod probe_responder;
mod station_table;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: [&Class; 5] = [
    &association_responder::CLASS,
    &beacon_source::CLASS,
    &open_auth_responder::CLASS,
    &probe_responder::CLASS,
    &station_table::CLASS,
];
