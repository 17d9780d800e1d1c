//! The fields of a summary dump: one table of their names, sizes and the order in which they build a packet.
//!
//! What a field *is* in a packet stands in [`super::extract`], how it looks in [`super::print`], how it is read back in
//! [`super::parse`] and [`super::inject`]. The manuals of ToIPSummaryDump and FromIPSummaryDump describe the fields.

/// What a column of a dump says about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The table below names each one.
pub enum Field {
    None,
    Timestamp,
    NanoTimestamp,
    Seconds,
    Microseconds,
    TotalMicroseconds,
    FirstTimestamp,
    FirstNanoTimestamp,
    Count,
    Paint,
    Direction,
    Aggregate,
    WireLength,
    EtherSource,
    EtherDestination,
    EtherType,
    IpSource,
    IpDestination,
    IpTos,
    IpDscp,
    IpEcn,
    IpTtl,
    IpFragment,
    IpFragmentOffset,
    IpId,
    IpChecksum,
    IpProtocol,
    IpHeaderLength,
    IpLength,
    IpCaptureLength,
    IpOptions,
    SourcePort,
    DestinationPort,
    TcpSequence,
    TcpAcknowledgement,
    TcpOffset,
    TcpFlags,
    TcpWindow,
    TcpUrgent,
    TcpOptions,
    TcpNonTimestampOptions,
    TcpSack,
    UdpLength,
    IcmpType,
    IcmpCode,
    IcmpTypeName,
    IcmpCodeName,
    IcmpFlowId,
    IcmpSequence,
    IcmpNextMtu,
    PayloadLength,
    Payload,
    PayloadMd5,
    PayloadMd5Hex,
}

/// How a field is stored in a binary record. Numbers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// This many bytes.
    Bytes(usize),
    /// One byte of length, then that many bytes.
    Counted,
    /// Cannot be stored.
    NotBinary,
}

/// Which header a field needs, in the order in which headers are built when a packet is made from a line. Fields of
/// the same rank are applied from left to right.
type Rank = u16;

const ANNOTATION: Rank = 100;
const LINK: Rank = 200;
const NETWORK: Rank = 300;
const TRANSPORT: Rank = 400;
const PAYLOAD: Rank = 500;

/// One line of the table.
#[derive(Debug)]
pub struct FieldFacts {
    /// Which field this is.
    pub field: Field,
    /// Its name in `!data` lines.
    pub name: &'static str,
    /// Other names that users may give.
    pub aliases: &'static [&'static str],
    /// Its size in binary records.
    pub width: Width,
    /// When it is applied to a packet being made, relative to others; `None` if it cannot be.
    pub rank: Option<Rank>,
}

impl FieldFacts {
    /// Whether the field is about IP or what IP carries, so that headers have to be checked first.
    pub fn needs_headers(&self) -> bool {
        let link_or_annotation = [
            Field::None,
            Field::Timestamp,
            Field::NanoTimestamp,
            Field::Seconds,
            Field::Microseconds,
            Field::TotalMicroseconds,
            Field::FirstTimestamp,
            Field::FirstNanoTimestamp,
            Field::Count,
            Field::Paint,
            Field::Direction,
            Field::Aggregate,
            Field::WireLength,
            Field::EtherSource,
            Field::EtherDestination,
            Field::EtherType,
        ];
        !link_or_annotation.contains(&self.field)
    }
}

const fn row(
    field: Field,
    name: &'static str,
    aliases: &'static [&'static str],
    width: Width,
    rank: Option<Rank>,
) -> FieldFacts {
    FieldFacts { field, name, aliases, width, rank }
}

const B1: Width = Width::Bytes(1);
const B2: Width = Width::Bytes(2);
const B4: Width = Width::Bytes(4);
const B8: Width = Width::Bytes(8);

/// All fields.
pub static FIELDS: &[FieldFacts] = &[
    row(Field::None, "none", &[], Width::Bytes(0), None),
    row(Field::Timestamp, "timestamp", &["utimestamp", "ts"], B8, Some(ANNOTATION)),
    row(Field::NanoTimestamp, "ntimestamp", &[], B8, Some(ANNOTATION)),
    row(Field::Seconds, "ts_sec", &["sec"], B4, Some(ANNOTATION)),
    row(Field::Microseconds, "ts_usec", &["usec"], B4, Some(ANNOTATION)),
    row(Field::TotalMicroseconds, "ts_usec1", &["usec1"], B8, Some(ANNOTATION)),
    row(Field::FirstTimestamp, "first_timestamp", &["first_utimestamp", "first_ts"], B8, Some(ANNOTATION)),
    row(Field::FirstNanoTimestamp, "first_ntimestamp", &[], B8, Some(ANNOTATION)),
    row(Field::Count, "count", &["pkt_count", "packet_count"], B4, Some(ANNOTATION)),
    row(Field::Paint, "link", &[], B1, Some(ANNOTATION)),
    row(Field::Paint, "paint", &[], B1, Some(ANNOTATION)),
    row(Field::Direction, "direction", &[], B1, Some(ANNOTATION)),
    row(Field::Aggregate, "aggregate", &["agg"], B4, Some(ANNOTATION)),
    row(Field::WireLength, "wire_len", &["wire_length"], B4, Some(ANNOTATION)),
    row(Field::EtherSource, "eth_src", &["ether_src"], Width::Bytes(6), Some(LINK)),
    row(Field::EtherDestination, "eth_dst", &["ether_dst"], Width::Bytes(6), Some(LINK)),
    row(Field::EtherType, "eth_type", &["ether_type"], B2, Some(LINK)),
    row(Field::IpSource, "ip_src", &[], B4, Some(NETWORK)),
    row(Field::IpDestination, "ip_dst", &[], B4, Some(NETWORK)),
    row(Field::IpTos, "ip_tos", &[], B1, Some(NETWORK)),
    row(Field::IpDscp, "ip_dscp", &[], B1, Some(NETWORK)),
    row(Field::IpEcn, "ip_ecn", &[], B1, Some(NETWORK)),
    row(Field::IpTtl, "ip_ttl", &[], B1, Some(NETWORK)),
    row(Field::IpFragment, "ip_frag", &[], B1, Some(NETWORK - 2)),
    row(Field::IpFragmentOffset, "ip_fragoff", &[], B2, Some(NETWORK - 1)),
    row(Field::IpId, "ip_id", &[], B2, Some(NETWORK)),
    row(Field::IpChecksum, "ip_sum", &[], B2, Some(NETWORK + 2)),
    row(Field::IpProtocol, "ip_proto", &["ip_p"], B1, Some(NETWORK)),
    row(Field::IpHeaderLength, "ip_hl", &[], B1, Some(NETWORK - 1)),
    row(Field::IpLength, "ip_len", &["length"], B4, Some(NETWORK + 1)),
    row(Field::IpCaptureLength, "ip_capture_len", &[], B4, Some(PAYLOAD + 2)),
    row(Field::IpOptions, "ip_opt", &[], Width::Counted, Some(NETWORK)),
    row(Field::SourcePort, "sport", &[], B2, Some(TRANSPORT)),
    row(Field::DestinationPort, "dport", &[], B2, Some(TRANSPORT)),
    row(Field::TcpSequence, "tcp_seq", &["tcp_seqno"], B4, Some(TRANSPORT)),
    row(Field::TcpAcknowledgement, "tcp_ack", &["tcp_ackno"], B4, Some(TRANSPORT)),
    row(Field::TcpOffset, "tcp_off", &[], B1, Some(TRANSPORT - 1)),
    row(Field::TcpFlags, "tcp_flags", &[], B1, Some(TRANSPORT)),
    row(Field::TcpWindow, "tcp_window", &["tcp_win"], B2, Some(TRANSPORT)),
    row(Field::TcpUrgent, "tcp_urp", &[], B2, Some(TRANSPORT)),
    row(Field::TcpOptions, "tcp_opt", &[], Width::Counted, Some(TRANSPORT + 3)),
    row(Field::TcpNonTimestampOptions, "tcp_ntopt", &[], Width::Counted, Some(TRANSPORT + 2)),
    row(Field::TcpSack, "tcp_sack", &[], Width::Counted, Some(TRANSPORT + 1)),
    row(Field::UdpLength, "udp_len", &[], B4, Some(TRANSPORT)),
    row(Field::IcmpType, "icmp_type", &[], B1, Some(TRANSPORT)),
    row(Field::IcmpCode, "icmp_code", &[], B1, Some(TRANSPORT + 1)),
    row(Field::IcmpTypeName, "icmp_type_name", &[], B1, Some(TRANSPORT)),
    row(Field::IcmpCodeName, "icmp_code_name", &[], B1, Some(TRANSPORT + 1)),
    row(Field::IcmpFlowId, "icmp_flowid", &[], B2, Some(TRANSPORT + 2)),
    row(Field::IcmpSequence, "icmp_seq", &[], B2, Some(TRANSPORT + 2)),
    row(Field::IcmpNextMtu, "icmp_nextmtu", &[], B2, Some(TRANSPORT + 2)),
    row(Field::PayloadLength, "payload_len", &["payload_length"], B4, Some(PAYLOAD + 1)),
    row(Field::Payload, "payload", &[], Width::NotBinary, Some(PAYLOAD)),
    row(Field::PayloadMd5, "payload_md5", &[], Width::Bytes(16), None),
    row(Field::PayloadMd5Hex, "payload_md5_hex", &[], Width::Bytes(16), None),
];

/// The field that stands in for one that is not known.
pub static NONE: &FieldFacts = &FIELDS[0];

/// Finds a field by name. A space may stand for the first underscore, and `ip_` may be left out.
pub fn find(name: &str) -> Option<&'static FieldFacts> {
    let exact = FIELDS.iter().find(|facts| facts.name == name || facts.aliases.contains(&name));
    if exact.is_some() {
        return exact;
    }
    if name.contains(' ') {
        find(&name.replacen(' ', "_", 1))
    } else if !name.contains('_') {
        find(&format!("ip_{name}"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_kinds_are_found() {
        let cases = [
            ("ip_src", "ip_src"),
            ("src", "ip_src"),
            ("len", "ip_len"),
            ("length", "ip_len"),
            ("p", "ip_proto"),
            ("proto", "ip_proto"),
            ("tcp seq", "tcp_seq"),
            ("ip src", "ip_src"),
            ("ts", "timestamp"),
            ("link", "link"),
            ("aggregate", "aggregate"),
        ];
        for (name, found) in cases {
            assert_eq!(find(name).map(|facts| facts.name), Some(found), "{name}");
        }
        assert!(find("seq").is_none());
        assert!(find("tcp_").is_none());
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names: Vec<&str> =
            FIELDS.iter().flat_map(|f| f.aliases.iter().chain([&f.name])).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
