//! Sources: elements that make packets of their own accord.

use clickwork_router::Class;
use std::time::Duration;

mod fast_flows;
mod infinite_source;
mod random_source;
mod rated_source;
mod timed_source;

/// What sources put into packets unless told otherwise: Click's bytes, since outputs are compared with it.
pub(crate) const DEFAULT_DATA: &[u8] =
    b"Random bullshit in a packet, at least 64 bytes long. Well, now it is.";

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &fast_flows::fast_tcp_flows::CLASS,
    &fast_flows::fast_udp_flows::CLASS,
    &fast_flows::fast_udp_source::CLASS,
    &fast_flows::fast_udp_source_ip6::CLASS,
    &infinite_source::CLASS,
    &random_source::CLASS,
    &rated_source::CLASS,
    &timed_source::CLASS,
];

/// The longest packet a source makes.
const MAX_LENGTH: i32 = 65535;

/// A length of packets that can be made; a negative one stands for that of the data.
fn check_length(length: i32) -> Result<i32, String> {
    if length <= MAX_LENGTH { Ok(length) } else { Err(format!("must be at most {MAX_LENGTH}")) }
}

/// A time that can pass between packets.
fn interval(time: Duration) -> Result<Duration, String> {
    if time > Duration::ZERO { Ok(time) } else { Err("must be more than 0".to_string()) }
}
