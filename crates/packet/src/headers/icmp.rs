//! ICMP messages (RFC 792, RFC 1191 for the next-hop MTU), with Click's names for types and codes.

use super::view::{Header, View, ViewMut};
use crate::addr::Ipv4Address;
use crate::checksum::Sum;
use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Message types (IANA "ICMP Type Numbers").
pub mod icmp_type {
    /// Echo reply.
    pub const ECHO_REPLY: u8 = 0;
    /// Destination unreachable; codes in [`super::unreachable`].
    pub const UNREACHABLE: u8 = 3;
    /// Source quench.
    pub const SOURCE_QUENCH: u8 = 4;
    /// Redirect; codes in [`super::redirect`].
    pub const REDIRECT: u8 = 5;
    /// Echo request.
    pub const ECHO: u8 = 8;
    /// Router advertisement (RFC 1256).
    pub const ROUTER_ADVERTISEMENT: u8 = 9;
    /// Router solicitation (RFC 1256).
    pub const ROUTER_SOLICITATION: u8 = 10;
    /// Time exceeded; codes in [`super::time_exceeded`].
    pub const TIME_EXCEEDED: u8 = 11;
    /// Parameter problem; codes in [`super::parameter_problem`].
    pub const PARAMETER_PROBLEM: u8 = 12;
    /// Timestamp request.
    pub const TIMESTAMP: u8 = 13;
    /// Timestamp reply.
    pub const TIMESTAMP_REPLY: u8 = 14;
    /// Information request.
    pub const INFORMATION: u8 = 15;
    /// Information reply.
    pub const INFORMATION_REPLY: u8 = 16;
    /// Address mask request (RFC 950).
    pub const MASK: u8 = 17;
    /// Address mask reply (RFC 950).
    pub const MASK_REPLY: u8 = 18;
}

/// Codes of "destination unreachable" (RFC 792, RFC 1812 §5.2.7.1).
pub mod unreachable {
    /// Network unreachable.
    pub const NET: u8 = 0;
    /// Host unreachable.
    pub const HOST: u8 = 1;
    /// Protocol unreachable.
    pub const PROTOCOL: u8 = 2;
    /// Port unreachable.
    pub const PORT: u8 = 3;
    /// Fragmentation needed, but forbidden.
    pub const NEED_FRAGMENT: u8 = 4;
    /// Source route failed.
    pub const SOURCE_ROUTE_FAILED: u8 = 5;
    /// Destination network unknown.
    pub const NET_UNKNOWN: u8 = 6;
    /// Destination host unknown.
    pub const HOST_UNKNOWN: u8 = 7;
    /// Source host isolated.
    pub const ISOLATED: u8 = 8;
    /// Network administratively prohibited.
    pub const NET_PROHIBITED: u8 = 9;
    /// Host administratively prohibited.
    pub const HOST_PROHIBITED: u8 = 10;
    /// Network unreachable for the type of service.
    pub const TOS_NET: u8 = 11;
    /// Host unreachable for the type of service.
    pub const TOS_HOST: u8 = 12;
    /// Communication administratively prohibited by filtering.
    pub const FILTER_PROHIBITED: u8 = 13;
    /// Host precedence violation.
    pub const HOST_PRECEDENCE: u8 = 14;
    /// Precedence cutoff in effect.
    pub const PRECEDENCE_CUTOFF: u8 = 15;
}

/// Codes of "redirect" (RFC 792).
pub mod redirect {
    /// For the network.
    pub const NET: u8 = 0;
    /// For the host.
    pub const HOST: u8 = 1;
    /// For the type of service and network.
    pub const TOS_NET: u8 = 2;
    /// For the type of service and host.
    pub const TOS_HOST: u8 = 3;
}

/// Codes of "time exceeded" (RFC 792).
pub mod time_exceeded {
    /// In transit: the time to live ran out.
    pub const TRANSIT: u8 = 0;
    /// While fragments were reassembled.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of "parameter problem" (RFC 792, RFC 1108, RFC 1812 §5.2.7.2).
pub mod parameter_problem {
    /// The pointer names the byte at fault.
    pub const ERROR_AT_POINTER: u8 = 0;
    /// A required option is missing.
    pub const MISSING_OPTION: u8 = 1;
    /// Bad length.
    pub const LENGTH: u8 = 2;
}

const TYPE_NAMES: &[(&str, u8)] = &[
    ("echo", icmp_type::ECHO),
    ("echo-reply", icmp_type::ECHO_REPLY),
    ("inforeq", icmp_type::INFORMATION),
    ("inforeq-reply", icmp_type::INFORMATION_REPLY),
    ("maskreq", icmp_type::MASK),
    ("maskreq-reply", icmp_type::MASK_REPLY),
    ("parameterproblem", icmp_type::PARAMETER_PROBLEM),
    ("redirect", icmp_type::REDIRECT),
    ("routeradvert", icmp_type::ROUTER_ADVERTISEMENT),
    ("routersolicit", icmp_type::ROUTER_SOLICITATION),
    ("sourcequench", icmp_type::SOURCE_QUENCH),
    ("timeexceeded", icmp_type::TIME_EXCEEDED),
    ("timestamp", icmp_type::TIMESTAMP),
    ("timestamp-reply", icmp_type::TIMESTAMP_REPLY),
    ("unreachable", icmp_type::UNREACHABLE),
];

const UNREACHABLE_NAMES: &[(&str, u8)] = &[
    ("filterprohibited", unreachable::FILTER_PROHIBITED),
    ("host", unreachable::HOST),
    ("hostprecedence", unreachable::HOST_PRECEDENCE),
    ("hostprohibited", unreachable::HOST_PROHIBITED),
    ("hostunknown", unreachable::HOST_UNKNOWN),
    ("isolated", unreachable::ISOLATED),
    ("needfrag", unreachable::NEED_FRAGMENT),
    ("net", unreachable::NET),
    ("netprohibited", unreachable::NET_PROHIBITED),
    ("netunknown", unreachable::NET_UNKNOWN),
    ("port", unreachable::PORT),
    ("precedencecutoff", unreachable::PRECEDENCE_CUTOFF),
    ("protocol", unreachable::PROTOCOL),
    ("srcroutefail", unreachable::SOURCE_ROUTE_FAILED),
    ("toshost", unreachable::TOS_HOST),
    ("tosnet", unreachable::TOS_NET),
];

const REDIRECT_NAMES: &[(&str, u8)] = &[
    ("host", redirect::HOST),
    ("net", redirect::NET),
    ("toshost", redirect::TOS_HOST),
    ("tosnet", redirect::TOS_NET),
];

const TIME_EXCEEDED_NAMES: &[(&str, u8)] =
    &[("reassembly", time_exceeded::REASSEMBLY), ("transit", time_exceeded::TRANSIT)];

const PARAMETER_PROBLEM_NAMES: &[(&str, u8)] = &[
    ("erroratptr", parameter_problem::ERROR_AT_POINTER),
    ("length", parameter_problem::LENGTH),
    ("missingopt", parameter_problem::MISSING_OPTION),
];

/// The message type that Click calls `name`.
pub fn type_named(name: &str) -> Option<u8> {
    number(TYPE_NAMES, name)
}

/// Click's name of a message type.
pub fn type_name(icmp_type: u8) -> Option<&'static str> {
    name(TYPE_NAMES, icmp_type)
}

/// The code that Click calls `name` in messages of a type.
pub fn code_named(icmp_type: u8, name: &str) -> Option<u8> {
    number(code_names(icmp_type), name)
}

/// Click's name of a code in messages of a type.
pub fn code_name(icmp_type: u8, code: u8) -> Option<&'static str> {
    name(code_names(icmp_type), code)
}

fn code_names(icmp_type: u8) -> &'static [(&'static str, u8)] {
    match icmp_type {
        icmp_type::UNREACHABLE => UNREACHABLE_NAMES,
        icmp_type::REDIRECT => REDIRECT_NAMES,
        icmp_type::TIME_EXCEEDED => TIME_EXCEEDED_NAMES,
        icmp_type::PARAMETER_PROBLEM => PARAMETER_PROBLEM_NAMES,
        _ => &[],
    }
}

fn number(names: &[(&str, u8)], wanted: &str) -> Option<u8> {
    names.iter().find(|(name, _)| *name == wanted).map(|&(_, number)| number)
}

fn name(names: &[(&'static str, u8)], wanted: u8) -> Option<&'static str> {
    names.iter().find(|(_, number)| *number == wanted).map(|&(name, _)| name)
}

/// An ICMP message for reading.
pub type Icmp<'a> = View<'a, IcmpHeader>;
/// An ICMP message for writing.
pub type IcmpMut<'a> = ViewMut<'a, IcmpHeader>;

/// The 8 bytes that every ICMP message starts with. The last four mean what the type says.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct IcmpHeader {
    /// One of [`icmp_type`].
    pub icmp_type: u8,
    /// What the type says.
    pub code: u8,
    checksum: U16,
    rest: [u8; 4],
}

impl Header for IcmpHeader {}

impl IcmpHeader {
    /// A header with everything after type and code zero.
    pub const fn new(icmp_type: u8, code: u8) -> Self {
        Self { icmp_type, code, checksum: U16::ZERO, rest: [0; 4] }
    }

    /// Whether the message reports an error in a packet, and so must not be answered by another (RFC 1122 §3.2.2).
    pub fn is_error(&self) -> bool {
        use icmp_type::*;
        matches!(self.icmp_type, UNREACHABLE | SOURCE_QUENCH | REDIRECT | TIME_EXCEEDED | PARAMETER_PROBLEM)
    }

    /// The checksum field.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.checksum.get()
    }

    /// Sets the checksum field.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        self.checksum.set(checksum);
    }

    /// The identifier of echo, timestamp, information and mask messages.
    #[inline]
    pub fn identifier(&self) -> u16 {
        self.halves()[0].get()
    }

    /// Sets the identifier.
    #[inline]
    pub fn set_identifier(&mut self, identifier: u16) {
        self.rest = zerocopy::transmute!([U16::new(identifier), self.halves()[1]]);
    }

    /// The sequence number of the same messages.
    #[inline]
    pub fn sequence(&self) -> u16 {
        self.halves()[1].get()
    }

    /// Sets the sequence number.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u16) {
        self.rest = zerocopy::transmute!([self.halves()[0], U16::new(sequence)]);
    }

    /// The next-hop MTU of "fragmentation needed" (RFC 1191 §4); 0 from routers that do not know it.
    #[inline]
    pub fn next_hop_mtu(&self) -> u16 {
        self.halves()[1].get()
    }

    /// Sets the next-hop MTU.
    #[inline]
    pub fn set_next_hop_mtu(&mut self, mtu: u16) {
        self.set_sequence(mtu);
    }

    /// The better gateway of a redirect.
    #[inline]
    pub fn gateway(&self) -> Ipv4Address {
        Ipv4Address::from_octets(self.rest)
    }

    /// Sets the better gateway of a redirect.
    #[inline]
    pub fn set_gateway(&mut self, gateway: Ipv4Address) {
        self.rest = gateway.octets();
    }

    /// Where the fault is in the packet of a parameter problem, in bytes.
    #[inline]
    pub fn pointer(&self) -> u8 {
        self.rest[0]
    }

    /// Sets where the fault is.
    #[inline]
    pub fn set_pointer(&mut self, pointer: u8) {
        self.rest[0] = pointer;
    }

    /// The last four bytes as a number.
    #[inline]
    pub fn rest(&self) -> u32 {
        U32::from_bytes(self.rest).get()
    }

    /// Sets the last four bytes.
    #[inline]
    pub fn set_rest(&mut self, rest: u32) {
        self.rest = rest.to_be_bytes();
    }

    fn halves(&self) -> [U16; 2] {
        zerocopy::transmute!(self.rest)
    }
}

impl Icmp<'_> {
    /// Whether the checksum of the message is right.
    #[inline]
    pub fn checksum_is_right(&self) -> bool {
        self.add_to(Sum::new()).finish() == 0
    }
}

impl IcmpMut<'_> {
    /// Computes the checksum of the message and stores it.
    #[inline]
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let checksum = self.as_view().add_to(Sum::new()).finish();
        self.set_checksum(checksum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for &(name, number) in TYPE_NAMES {
            assert_eq!((type_named(name), type_name(number)), (Some(number), Some(name)));
            for &(code_name_, code) in code_names(number) {
                assert_eq!(code_named(number, code_name_), Some(code));
                assert_eq!(code_name(number, code), Some(code_name_));
            }
        }
        assert_eq!(code_named(icmp_type::UNREACHABLE, "needfrag"), Some(4));
        assert_eq!(code_named(icmp_type::ECHO, "needfrag"), None);
    }

    #[test]
    fn fields_of_the_last_word_do_not_disturb_each_other() {
        let mut header = IcmpHeader::new(icmp_type::ECHO, 0);
        header.set_identifier(0x0102);
        header.set_sequence(0x0304);
        assert_eq!((header.identifier(), header.sequence(), header.rest()), (0x0102, 0x0304, 0x0102_0304));
        assert_eq!(header.as_bytes(), [8, 0, 0, 0, 1, 2, 3, 4]);
        header.set_gateway(Ipv4Address::new(9, 8, 7, 6));
        header.set_pointer(5);
        assert_eq!(header.gateway(), Ipv4Address::new(5, 8, 7, 6));
    }
}
