//! The mappings of AddressTranslator: which inner address and port stands behind which mapped one.
//!
//! Fixed mappings are of the configuration. Others are made when a packet needs one: of whole addresses, from a list, which
//! last; or of ports of one address, a port for each flow, which are given anew when they were idle and no other is left. So
//! no traffic makes them more than the configuration has addresses or ports.

use clickwork_packet::Timestamp;
use clickwork_packet::addr::Ipv6Address;
use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::time::Duration;

/// An address and a port, or the identifier of an echo message.
pub type End = (Ipv6Address, u16);

/// How long a flow must be idle before its port may be given to another.
const IDLE: Duration = Duration::from_secs(300);
/// How many ports are looked at for one that has been idle.
const LOOKED_AT: usize = 16;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Way {
    /// From inside to the network outside: its source is inner.
    #[default]
    Outward,
    /// The other way: its destination is mapped.
    Inward,
}

/// Where new mappings come from.
#[derive(Debug, Default)]
pub enum Supply {
    /// There are none.
    #[default]
    None,
    /// Addresses that are still free.
    Addresses(VecDeque<Ipv6Address>),
    /// The ports of an address.
    Ports(Flows),
}

/// All mappings.
#[derive(Debug, Default)]
pub struct Mappings {
    outward: HashMap<(Ipv6Address, Option<u16>), (Ipv6Address, Option<u16>)>,
    inward: HashMap<(Ipv6Address, Option<u16>), (Ipv6Address, Option<u16>)>,
    /// What new mappings are made of, and which way packets go that make them.
    pub supply: Supply,
    /// Which way packets go that make new mappings.
    pub made_by: Way,
}

/// Why there is no mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// None was made, or may be made by this packet.
    Unknown,
    /// There is no address or port left.
    Exhausted,
}

impl Mappings {
    /// Adds a fixed mapping of addresses, or of addresses and ports. One that is there stays.
    pub fn add(&mut self, inner: (Ipv6Address, Option<u16>), mapped: (Ipv6Address, Option<u16>)) {
        self.outward.entry(inner).or_insert(mapped);
        self.inward.entry(mapped).or_insert(inner);
    }

    /// What stands for `end` of a packet that goes this way, while the other end is `other`. A packet without ports says so,
    /// and one that only speaks of another packet, which makes no mapping.
    pub fn find(
        &mut self,
        way: Way,
        end: (Ipv6Address, Option<u16>),
        other: End,
        may_make: bool,
        now: Timestamp,
    ) -> Result<End, Missing> {
        let (address, port) = (end.0, end.1.unwrap_or_default());
        let known = if way == Way::Outward { &self.outward } else { &self.inward };
        if let Some(&(address, to)) = known.get(&end).or_else(|| known.get(&(address, None))) {
            return Ok((address, to.unwrap_or(port)));
        }
        let makes = may_make && way == self.made_by;
        match &mut self.supply {
            Supply::Addresses(free) if makes => {
                let given = free.pop_front().ok_or(Missing::Exhausted)?;
                match way {
                    Way::Outward => self.add((address, None), (given, None)),
                    Way::Inward => self.add((given, None), (address, None)),
                }
                Ok((given, port))
            }
            Supply::Ports(flows) => flows.find(way, (address, port), other, makes, now),
            _ => Err(Missing::Unknown),
        }
    }

    /// The number of mappings.
    pub fn count(&self) -> usize {
        let flows = if let Supply::Ports(flows) = &self.supply { flows.outward.len() } else { 0 };
        self.outward.len() + flows
    }
}

/// A flow: its inner and its mapped end, and the end outside.
#[derive(Clone, Copy, Debug)]
struct Flow {
    inner: End,
    mapped: End,
    outside: End,
    used: Timestamp,
}

/// Flows, each with a port of one address.
#[derive(Debug)]
pub struct Flows {
    address: Ipv6Address,
    ports: RangeInclusive<u16>,
    /// Flows by port, from the first on.
    flows: Vec<Flow>,
    /// Where the search for an idle port goes on.
    rover: usize,
    /// By inner and outside end, and by mapped and outside end: the place in `flows`.
    outward: HashMap<(End, End), usize>,
    inward: HashMap<(End, End), usize>,
}

impl Flows {
    /// No flow yet; they will have these ports of an address.
    pub fn new(address: Ipv6Address, ports: RangeInclusive<u16>) -> Flows {
        let (flows, outward, inward) = Default::default();
        Flows { address, ports, flows, rover: 0, outward, inward }
    }

    fn find(&mut self, way: Way, end: End, other: End, makes: bool, now: Timestamp) -> Result<End, Missing> {
        let known = if way == Way::Outward { &self.outward } else { &self.inward };
        let place = match known.get(&(end, other)) {
            Some(&place) => place,
            None if makes => self.make(way, end, other, now)?,
            None => return Err(Missing::Unknown),
        };
        let flow = &mut self.flows[place];
        flow.used = now;
        Ok(if way == Way::Outward { flow.mapped } else { flow.inner })
    }

    /// Makes a flow, if there is a port; its place.
    fn make(&mut self, way: Way, end: End, outside: End, now: Timestamp) -> Result<usize, Missing> {
        let place = self.place(now).ok_or(Missing::Exhausted)?;
        let given = (self.address, *self.ports.start() + place as u16);
        let (inner, mapped) = if way == Way::Outward { (end, given) } else { (given, end) };
        let flow = Flow { inner, mapped, outside, used: now };
        self.outward.insert((inner, outside), place);
        self.inward.insert((mapped, outside), place);
        match self.flows.get_mut(place) {
            Some(old) => *old = flow,
            None => self.flows.push(flow),
        }
        Ok(place)
    }

    /// A place without a flow: the next that never had one, or one whose flow has been idle.
    fn place(&mut self, now: Timestamp) -> Option<usize> {
        if self.flows.len() < self.ports.len() {
            return Some(self.flows.len());
        }
        for _ in 0..LOOKED_AT.min(self.flows.len()) {
            let place = self.rover;
            self.rover = (self.rover + 1) % self.flows.len();
            let flow = self.flows[place];
            if now >= flow.used + IDLE {
                self.outward.remove(&(flow.inner, flow.outside));
                self.inward.remove(&(flow.mapped, flow.outside));
                return Some(place);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u128) -> Ipv6Address {
        Ipv6Address::from_bits(n)
    }

    #[test]
    fn ports_are_given_one_after_the_other_and_again_when_idle() {
        let mut m =
            Mappings { supply: Supply::Ports(Flows::new(address(9), 100..=102)), ..Mappings::default() };
        let at = |s| Timestamp::new(s, 0);
        let mut find =
            |port, now| m.find(Way::Outward, (address(1), Some(port)), (address(5), 80), true, at(now));
        for (port, given) in [(7, 100), (8, 101), (7, 100), (9, 102)] {
            assert_eq!(find(port, 1), Ok((address(9), given)));
        }
        assert_eq!(find(10, 2), Err(Missing::Exhausted));
        assert_eq!(find(8, 250), Ok((address(9), 101)));
        // The first and the third have been idle.
        assert_eq!(find(10, 302), Ok((address(9), 100)));
        assert_eq!(find(11, 302), Ok((address(9), 102)));
        assert_eq!(find(7, 302), Err(Missing::Exhausted));
        assert_eq!(m.count(), 3);
        let back = m.find(Way::Inward, (address(9), Some(102)), (address(5), 80), true, at(303));
        assert_eq!(back, Ok((address(1), 11)));
        let stranger = m.find(Way::Inward, (address(9), Some(102)), (address(6), 80), true, at(303));
        assert_eq!(stranger, Err(Missing::Unknown));
    }
}
