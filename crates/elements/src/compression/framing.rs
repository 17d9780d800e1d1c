//! What stands in front of a packet on the link, and says what kind of packet it is (RFC 2507 §2 leaves that to the link).

use clickwork_router::args::Choice;

/// A kind of packet on a link with header compression (RFC 2507 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An IP packet as it is.
    Regular,
    /// A packet with its whole header, which sets a context up.
    Full,
    /// TCP, changes only. `number` counts the packets of the context, modulo 32. `same` preceding packets, three at most, had
    /// the same changes. Neither is there with PPP.
    Tcp {
        /// The packet's number, if the framing has one.
        number: Option<u8>,
        /// How many packets before it had the same changes.
        same: u8,
    },
    /// TCP with all that may change. The number counts modulo 256.
    TcpNoDelta {
        /// The packet's number, if the framing has one.
        number: Option<u8>,
        /// How many packets ago, at least, the context was sent with its whole header.
        since_full: u8,
    },
    /// Not TCP, without what is in the context.
    NonTcp,
    /// Asks for contexts to be set up again.
    ContextState,
}

/// How kinds are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// One byte (three for TCP without deltas), which also numbers packets with TCP.
    #[default]
    Byte,
    /// The protocol number of PPP (RFC 3544 §2), two bytes.
    Ppp,
}

/// The names of framings, for arguments.
pub const NAMES: Choice<Framing> = Choice(&[("BYTE", Framing::Byte), ("PPP", Framing::Ppp)]);

const REGULAR: u8 = 0;
const FULL: u8 = 1;
const NO_DELTA: u8 = 3;
const NON_TCP: u8 = 4;
const CONTEXT_STATE: u8 = 5;
/// Set in the byte of a TCP packet; then come two bits of `same`, and five of the number.
const TCP: u8 = 0x80;
/// What a number in a TCP packet counts modulo.
pub const NUMBERS: u8 = 32;

/// The protocol numbers of PPP: IPv4, IPv6, and the kinds.
const PPP: [(u16, Kind); 7] = [
    (0x0021, Kind::Regular),
    (0x0057, Kind::Regular),
    (0x0061, Kind::Full),
    (0x0063, Kind::Tcp { number: None, same: 0 }),
    (0x2063, Kind::TcpNoDelta { number: None, since_full: 0 }),
    (0x0065, Kind::NonTcp),
    (0x2065, Kind::ContextState),
];

/// The bytes that name a kind.
pub struct Prefix {
    bytes: [u8; 3],
    len: usize,
}

impl Prefix {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Framing {
    /// What to put in front of a packet. `is_ipv6` matters for packets as they are.
    pub fn prefix(self, kind: Kind, is_ipv6: bool) -> Prefix {
        match self {
            Framing::Byte => byte_prefix(kind),
            Framing::Ppp => {
                let number = match kind {
                    Kind::Regular if is_ipv6 => 0x0057,
                    Kind::Regular => 0x0021,
                    Kind::Full => 0x0061,
                    Kind::Tcp { .. } => 0x0063,
                    Kind::TcpNoDelta { .. } => 0x2063,
                    Kind::NonTcp => 0x0065,
                    Kind::ContextState => 0x2065u16,
                };
                let [high, low] = number.to_be_bytes();
                Prefix { bytes: [high, low, 0], len: 2 }
            }
        }
    }

    /// The kind of a packet, and how many bytes said so.
    pub fn kind(self, data: &[u8]) -> Option<(Kind, usize)> {
        match self {
            Framing::Byte => byte_kind(data),
            Framing::Ppp => {
                let number = u16::from_be_bytes(*data.first_chunk()?);
                PPP.iter().find(|(n, _)| *n == number).map(|(_, kind)| (*kind, 2))
            }
        }
    }
}

fn byte_prefix(kind: Kind) -> Prefix {
    let one = |byte| Prefix { bytes: [byte, 0, 0], len: 1 };
    match kind {
        Kind::Regular => one(REGULAR),
        Kind::Full => one(FULL),
        Kind::NonTcp => one(NON_TCP),
        Kind::ContextState => one(CONTEXT_STATE),
        Kind::Tcp { number, same } => one(TCP | same.min(3) << 5 | (number.unwrap_or_default() % NUMBERS)),
        Kind::TcpNoDelta { number, since_full } => {
            Prefix { bytes: [NO_DELTA, number.unwrap_or_default(), since_full], len: 3 }
        }
    }
}

fn byte_kind(data: &[u8]) -> Option<(Kind, usize)> {
    let first = *data.first()?;
    Some(match first {
        REGULAR => (Kind::Regular, 1),
        FULL => (Kind::Full, 1),
        NO_DELTA => {
            let &[number, since_full] = data.get(1..)?.first_chunk()?;
            (Kind::TcpNoDelta { number: Some(number), since_full }, 3)
        }
        NON_TCP => (Kind::NonTcp, 1),
        CONTEXT_STATE => (Kind::ContextState, 1),
        TCP.. => (Kind::Tcp { number: Some(first % NUMBERS), same: first >> 5 & 3 }, 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_written() {
        let kinds = [Kind::Regular, Kind::Full, Kind::NonTcp, Kind::ContextState];
        let tcp = (0..32).flat_map(|n| (0..4).map(move |same| Kind::Tcp { number: Some(n), same }));
        let no_delta = (0..=255).map(|n| Kind::TcpNoDelta { number: Some(n), since_full: !n });
        for kind in kinds.into_iter().chain(tcp).chain(no_delta) {
            let prefix = Framing::Byte.prefix(kind, false);
            assert_eq!(Framing::Byte.kind(prefix.bytes()), Some((kind, prefix.bytes().len())));
        }
        for (number, kind) in PPP {
            assert_eq!(Framing::Ppp.prefix(kind, number == 0x57).bytes(), number.to_be_bytes());
            assert_eq!(Framing::Ppp.kind(&number.to_be_bytes()), Some((kind, 2)));
        }
        for bad in [&[][..], &[2], &[3, 9], &[6], &[0x7f]] {
            assert_eq!(Framing::Byte.kind(bad), None, "{bad:?}");
        }
        assert_eq!((Framing::Ppp.kind(&[0]), Framing::Ppp.kind(&[0, 0])), (None, None));
    }
}
