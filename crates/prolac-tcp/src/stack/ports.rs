//! Local ends: which address and port a connection or listener gets, and which are taken.
//!
//! RFC 6056 (ports that are hard to guess), RFC 6724 §5 rule 8 (addresses), and what Linux lets share a port.

use std::net::SocketAddr;

use super::flow::{Address, Flow, V4, canonical, is_unicast, split};
use super::inner::Inner;
use super::listener::Place;
use crate::error::Error;

/// Ephemeral ports, as Linux's `ip_local_port_range` has them.
const FIRST_PORT: u32 = 32768;
const PORTS: u32 = 60999 - FIRST_PORT + 1;

impl Inner {
    /// The ends of a new connection.
    pub fn choose_flow(
        &mut self,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        reuse: bool,
    ) -> Result<Flow, Error> {
        let remote = canonical(remote);
        let (family, remote_address) = split(remote.ip());
        if remote.port() == 0 {
            return Err(Error::ADDRESS_NOT_AVAILABLE);
        }
        if !is_unicast(family, &remote_address) {
            return Err(Error::NETWORK_UNREACHABLE);
        }
        let local = local.map(canonical);
        let address = self.local_address(local, family, &remote_address)?;
        let port = local.map_or(0, |local| local.port());
        let flow = Flow {
            family,
            local: address,
            remote: remote_address,
            local_port: port,
            remote_port: remote.port(),
        };
        if port == 0 {
            return self.with_ephemeral_port(flow);
        }
        if self.table.lookup(&flow).is_some() {
            return Err(Error::ADDRESS_NOT_AVAILABLE);
        }
        self.check_place(&Place { address, port, family, dual: false }, reuse)?;
        Ok(flow)
    }

    /// The address that was asked for, or the one of ours that has most in common with the peer's.
    fn local_address(
        &self,
        local: Option<SocketAddr>,
        family: u8,
        remote: &Address,
    ) -> Result<Address, Error> {
        if let Some(local) = local.filter(|local| !local.ip().is_unspecified()) {
            let (local_family, address) = split(local.ip());
            return match () {
                () if local_family != family => Err(Error::FAMILY),
                () if !self.is_ours(family, &address) => Err(Error::ADDRESS_NOT_AVAILABLE),
                () => Ok(address),
            };
        }
        let ours = self.addresses.iter().filter(|(f, _)| *f == family).map(|(_, address)| *address);
        let common = |address: &Address| {
            std::cmp::Reverse((u128::from_be_bytes(*address) ^ u128::from_be_bytes(*remote)).leading_zeros())
        };
        ours.min_by_key(common).ok_or(Error::ADDRESS_NOT_AVAILABLE)
    }

    /// RFC 6056 §3.3.3, algorithm 3: where the search begins depends on the ends and a secret, so the ports of one peer
    /// say nothing about another's.
    fn with_ephemeral_port(&mut self, mut flow: Flow) -> Result<Flow, Error> {
        let offset = self.secret.hash(&flow.bytes()) as u32;
        for _ in 0..PORTS {
            self.next_port = self.next_port.wrapping_add(1);
            flow.local_port = (FIRST_PORT + offset.wrapping_add(self.next_port) % PORTS) as u16;
            let place =
                Place { address: flow.local, port: flow.local_port, family: flow.family, dual: false };
            if self.table.lookup(&flow).is_none() && self.listeners.conflicting(&place).next().is_none() {
                return Ok(flow);
            }
        }
        Err(Error::ADDRESS_NOT_AVAILABLE)
    }

    /// Where a listener, or a socket that is bound, is to be: with a port.
    pub fn choose_place(&mut self, local: SocketAddr, v6only: bool, reuse: bool) -> Result<Place, Error> {
        let (family, address) = split(canonical(local).ip());
        let any = address == [0; 16];
        let is_usable = any || is_unicast(family, &address) && self.is_ours(family, &address);
        if !is_usable {
            return Err(Error::ADDRESS_NOT_AVAILABLE);
        }
        let dual = any && family != V4 && !v6only;
        let place = Place { address, port: local.port(), family, dual };
        if place.port != 0 {
            return self.check_place(&place, reuse).map(|()| place);
        }
        let start = self.secret.next() as u32 % PORTS;
        let ports = (0..PORTS).map(|step| (FIRST_PORT + (start + step) % PORTS) as u16);
        let places = ports.map(|port| Place { port, ..place });
        let mut free = places.filter(|place| self.check_place(place, false).is_ok());
        free.next().ok_or(Error::ADDRESS_IN_USE)
    }

    /// Whether a socket may be bound there: Linux lets sockets share a port only if all of them say so and none listens.
    fn check_place(&self, place: &Place, reuse: bool) -> Result<(), Error> {
        if self.listeners.conflicting(place).next().is_some() {
            return Err(Error::ADDRESS_IN_USE);
        }
        if self.table.uses_of_port(place.port) == 0 {
            return Ok(());
        }
        let taken = self.table.iter().any(|(_, slot)| {
            // SAFETY: a slot in use has a TCB, and no entry runs.
            let flow = unsafe { Flow::of(slot.tcb) };
            let other =
                Place { address: flow.local, port: flow.local_port, family: flow.family, dual: false };
            slot.bound && place.conflicts(&other) && !(reuse && slot.reuse)
        });
        if taken { Err(Error::ADDRESS_IN_USE) } else { Ok(()) }
    }
}
