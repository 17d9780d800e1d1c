//! ICMP errors: which connection they are about, and what they mean to it.
//!
//! RFC 1122 §4.2.3.9, RFC 5927 (which connection may believe them is the TCP's affair: it gets the quoted sequence
//! number), RFC 1191, RFC 8201. The meaning in `errno`s is Linux's.

use clickwork_packet::Packet;
use clickwork_packet::checksum::checksum;

use super::TcpStack;
use super::flow::{Flow, V4};
use super::ip::{self, Datagram, ICMP6, Reason, TCP, pseudo_sum};
use super::sum;
use crate::error::Error;

/// Bytes of an ICMP header, before what is quoted.
const HEADER: usize = 8;
/// RFC 791 §3.2: every link carries so much.
const MIN_MTU_V4: u32 = 68;
/// RFC 8200 §5.
const MIN_MTU_V6: u32 = 1280;

impl TcpStack {
    /// An ICMP or ICMPv6 packet came in.
    #[cold]
    pub(super) fn take_icmp(&mut self, now: u64, packet: &Packet, datagram: &Datagram) -> Result<(), Reason> {
        let message = &packet.data()[datagram.offset..datagram.end];
        let (Some(header), true) = (message.first_chunk::<HEADER>(), sums_up(message, datagram)) else {
            return Err(|drops| &mut drops.icmp);
        };
        let Some((error, mtu)) = meaning(datagram.family, header) else {
            return Err(|drops| &mut drops.protocol);
        };
        let (flow, seqno, length) = quoted(&message[HEADER..])?;
        if flow.family != datagram.family {
            return Err(|drops| &mut drops.icmp);
        }
        let Some(index) = self.inner().table.lookup(&flow) else {
            return Err(|drops| &mut drops.icmp_unknown);
        };
        self.inner_mut().counters.activity.icmp_in += 1;
        let mtu = if error == Error::MESSAGE_SIZE { next_hop_mtu(flow.family, mtu, length) } else { 0 };
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.unreachable)(tcb, seqno, error.0, mtu, now) });
        Ok(())
    }
}

fn sums_up(message: &[u8], datagram: &Datagram) -> bool {
    if datagram.family == V4 {
        return checksum(message) == 0;
    }
    let pseudo = pseudo_sum(&datagram.source, &datagram.destination, ICMP6, message.len());
    sum::fold(pseudo + u64::from(sum::sum(message))) == 0xFFFF
}

/// What an ICMP error means, with the MTU that it tells; `None` for other messages.
fn meaning(family: u8, header: &[u8; HEADER]) -> Option<(Error, u32)> {
    let [kind, code, _, _, mtu @ ..] = *header;
    let mtu = u32::from_be_bytes(mtu);
    let error = if family == V4 { meaning_v4(kind, code)? } else { meaning_v6(kind, code)? };
    Some((error, if family == V4 { mtu & 0xFFFF } else { mtu }))
}

/// RFC 792, RFC 1122 §3.2.2.1, RFC 1812 §5.2.7.1. RFC 6633: source quench means nothing.
fn meaning_v4(kind: u8, code: u8) -> Option<Error> {
    const UNREACHABLE: u8 = 3;
    const TIME_EXCEEDED: u8 = 11;
    const PARAMETER_PROBLEM: u8 = 12;
    match (kind, code) {
        (UNREACHABLE, 0 | 6 | 9 | 11) => Some(Error::NETWORK_UNREACHABLE),
        (UNREACHABLE, 1 | 10 | 12..=15) => Some(Error::HOST_UNREACHABLE),
        (UNREACHABLE, 2) => Some(Error::NO_OPTION),
        (UNREACHABLE, 3) => Some(Error::REFUSED),
        (UNREACHABLE, 4) => Some(Error::MESSAGE_SIZE),
        (UNREACHABLE, 5) => Some(Error::NOT_SUPPORTED),
        (UNREACHABLE, 7) => Some(Error::HOST_DOWN),
        (UNREACHABLE, 8) => Some(Error::NO_NETWORK),
        (TIME_EXCEEDED, _) => Some(Error::HOST_UNREACHABLE),
        (PARAMETER_PROBLEM, _) => Some(Error::PROTOCOL),
        _ => None,
    }
}

/// RFC 4443 §3.
fn meaning_v6(kind: u8, code: u8) -> Option<Error> {
    const UNREACHABLE: u8 = 1;
    const TOO_BIG: u8 = 2;
    const TIME_EXCEEDED: u8 = 3;
    const PARAMETER_PROBLEM: u8 = 4;
    match (kind, code) {
        (UNREACHABLE, 0) => Some(Error::NETWORK_UNREACHABLE),
        (UNREACHABLE, 1 | 5 | 6) => Some(Error::ACCESS),
        (UNREACHABLE, 2 | 3) => Some(Error::HOST_UNREACHABLE),
        (UNREACHABLE, 4) => Some(Error::REFUSED),
        (TOO_BIG, _) => Some(Error::MESSAGE_SIZE),
        (TIME_EXCEEDED, _) => Some(Error::HOST_UNREACHABLE),
        (PARAMETER_PROBLEM, _) => Some(Error::PROTOCOL),
        _ => None,
    }
}

/// The connection whose packet is quoted, its sequence number, and the packet's length. Eight bytes of TCP header are
/// what RFC 792 promises.
fn quoted(data: &[u8]) -> Result<(Flow, u32, u32), Reason> {
    let datagram = ip::parse_quoted(data)?;
    let tcp = data.get(datagram.offset..datagram.end).and_then(|rest| rest.first_chunk::<8>());
    let (TCP, Some(&[a, b, c, d, e, f, g, h])) = (datagram.protocol, tcp) else {
        return Err(|drops| &mut drops.icmp);
    };
    let flow = Flow {
        family: datagram.family,
        local: datagram.source,
        remote: datagram.destination,
        local_port: u16::from_be_bytes([a, b]),
        remote_port: u16::from_be_bytes([c, d]),
    };
    let length = u32::from(u16::from_be_bytes([data[2], data[3]]));
    Ok((flow, u32::from_be_bytes([e, f, g, h]), length))
}

/// The MTU that a message tells, or if it is of an old router that tells none (RFC 1191 §5), the next common one below
/// the length of the packet that was too big (its §7.1).
fn next_hop_mtu(family: u8, told: u32, length: u32) -> u32 {
    const COMMON: [u32; 10] = [32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296, MIN_MTU_V4];
    if family != V4 {
        return told.max(MIN_MTU_V6);
    }
    if told >= MIN_MTU_V4 {
        return told;
    }
    COMMON.into_iter().find(|&mtu| mtu < length).unwrap_or(MIN_MTU_V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mtu_that_is_told_counts_and_else_the_next_common_one() {
        assert_eq!(next_hop_mtu(V4, 1300, 1500), 1300);
        assert_eq!(next_hop_mtu(V4, 68, 1500), 68);
        assert_eq!(next_hop_mtu(V4, 0, 1500), 1492);
        assert_eq!(next_hop_mtu(V4, 67, 1492), 1006);
        assert_eq!(next_hop_mtu(V4, 0, 60), 68);
        assert_eq!(next_hop_mtu(6, 1400, 0), 1400);
        assert_eq!(next_hop_mtu(6, 1000, 0), 1280);
    }
}
