//! Who is bound to which port, and whether one more may be: Linux's `inet_csk_bind_conflict`.
//!
//! Every socket with a local port holds it, listening, connected or only bound, and so does a connection whose socket is
//! closed until the connection is gone. Two holders of overlapping addresses exclude each other unless both allow it:
//! by SO_REUSEADDR while it does not listen, or by SO_REUSEPORT.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::stack::ConnectionId;

use super::Fd;

/// Who holds a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    Socket(Fd),
    /// A connection that its user has left.
    Orphan(ConnectionId),
}

/// One claim to a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub holder: Holder,
    pub address: IpAddr,
    pub v6_only: bool,
    pub reuse_address: bool,
    pub reuse_port: bool,
    pub listening: bool,
}

impl Claim {
    /// Whether the two can receive the same packet.
    fn overlaps(&self, other: &Claim) -> bool {
        let same_family = self.address.is_ipv4() == other.address.is_ipv4();
        if same_family {
            return self.address == other.address
                || self.address.is_unspecified()
                || other.address.is_unspecified();
        }
        let (v4, v6) = if self.address.is_ipv4() { (self, other) } else { (other, self) };
        debug_assert!(v4.address.is_ipv4());
        v6.address.is_unspecified() && !v6.v6_only
    }

    /// Whether the claim, which is there, forbids the other.
    fn excludes(&self, other: &Claim) -> bool {
        let shared_address = self.reuse_address && other.reuse_address && !self.listening;
        let shared_port = self.reuse_port && other.reuse_port;
        self.holder != other.holder && !shared_address && !shared_port && self.overlaps(other)
    }
}

/// All claims.
#[derive(Debug, Default)]
pub(super) struct Ports {
    claims: HashMap<u16, HashMap<Holder, Claim>>,
    /// Where the search for a free port goes on.
    next: u16,
}

impl Ports {
    /// Whether the claim may be added, after those are forgotten whose connections `alive` denies.
    pub fn is_free(&mut self, port: u16, claim: &Claim, alive: impl Fn(ConnectionId) -> bool) -> bool {
        let Some(claims) = self.claims.get_mut(&port) else { return true };
        claims.retain(|holder, _| match *holder {
            Holder::Orphan(id) => alive(id),
            Holder::Socket(_) => true,
        });
        !claims.values().any(|c| c.excludes(claim))
    }

    /// Adds a claim, or replaces that of the same holder.
    pub fn claim(&mut self, port: u16, claim: Claim) {
        self.claims.entry(port).or_default().insert(claim.holder, claim);
    }

    /// Ends the claim of a holder.
    pub fn release(&mut self, port: u16, holder: Holder) {
        if let Some(claims) = self.claims.get_mut(&port) {
            claims.remove(&holder);
            if claims.is_empty() {
                self.claims.remove(&port);
            }
        }
    }

    /// Hands a claim over: a socket is closed, its connection stays.
    pub fn orphan(&mut self, port: u16, fd: Fd, id: ConnectionId) {
        let Some(claims) = self.claims.get_mut(&port) else { return };
        if let Some(claim) = claims.remove(&Holder::Socket(fd)) {
            let holder = Holder::Orphan(id);
            claims.insert(holder, Claim { holder, listening: false, ..claim });
        }
    }

    /// A port of the range that the claim can have.
    pub fn ephemeral(
        &mut self,
        range: (u16, u16),
        claim: &Claim,
        alive: impl Fn(ConnectionId) -> bool,
    ) -> Option<u16> {
        let count = u32::from(range.1.saturating_sub(range.0)) + 1;
        for _ in 0..count {
            let offset = u32::from(self.next) % count;
            self.next = self.next.wrapping_add(1);
            let port = range.0 + offset as u16;
            // A claim that others could join is not a free one: two users of the same port were not meant.
            let alone = Claim { reuse_address: false, reuse_port: false, ..*claim };
            if self.is_free(port, &alone, &alive) {
                return Some(port);
            }
        }
        None
    }
}
