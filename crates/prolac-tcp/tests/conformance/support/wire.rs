//! Segments as they are on the wire, with their IP header: built and read by etherparse, so that checksums and lengths are
//! computed and verified by someone else's code.

use std::fmt;
use std::net::SocketAddr;

use etherparse::{IpDscp, IpEcn, IpHeaders, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader};

use super::notation::{self, ACK, FIN, SYN, URG};
use super::options::{self, Base};

/// A segment. Sequence numbers are those on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub flags: u8,
    pub sequence: u32,
    pub acknowledgment: u32,
    pub window: u16,
    pub urgent: u16,
    pub ecn: u8,
    pub dont_fragment: bool,
    /// As they are on the wire, padded.
    pub options: Vec<u8>,
    pub text: Vec<u8>,
    /// When it was sent.
    pub time: u64,
}

impl Segment {
    /// The sequence number behind it.
    pub fn end(&self) -> u32 {
        let controls = [SYN, FIN].iter().filter(|&&flag| self.has(flag)).count();
        self.sequence.wrapping_add((self.text.len() + controls) as u32)
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The options in the words of scripts.
    pub fn option_words(&self, base: Base) -> Vec<String> {
        options::decode(&self.options, base)
    }

    /// The first value of a timestamps option.
    pub fn timestamp(&self) -> Option<u32> {
        let words = self.option_words(Base::default());
        let option = words.iter().find_map(|option| option.strip_prefix("ts "))?;
        option.split(' ').next()?.parse().ok()
    }

    /// The packet, with right checksums.
    pub fn packet(&self) -> Vec<u8> {
        let mut tcp = TcpHeader::new(self.from.port(), self.to.port(), self.sequence, self.window);
        let has = |flag| self.has(flag);
        (tcp.fin, tcp.syn, tcp.rst, tcp.psh) = (has(FIN), has(SYN), has(4), has(8));
        (tcp.ack, tcp.urg, tcp.ece, tcp.cwr) = (has(ACK), has(URG), has(64), has(128));
        tcp.acknowledgment_number = self.acknowledgment;
        tcp.urgent_pointer = self.urgent;
        tcp.set_options_raw(&self.options).expect("at most 40 bytes of options");
        let length = tcp.header_len() + self.text.len();
        let ecn = IpEcn::try_new(self.ecn).expect("two bits");
        let ip = match (self.from, self.to) {
            (SocketAddr::V4(from), SocketAddr::V4(to)) => {
                let (from, to) = (from.ip().octets(), to.ip().octets());
                let mut ip = Ipv4Header::new(length as u16, 64, IpNumber::TCP, from, to).expect("its length");
                (ip.ecn, ip.dont_fragment) = (ecn, self.dont_fragment);
                ip.header_checksum = ip.calc_header_checksum();
                tcp.checksum = tcp.calc_checksum_ipv4(&ip, &self.text).expect("its length");
                ip.to_bytes().to_vec()
            }
            (SocketAddr::V6(from), SocketAddr::V6(to)) => {
                let mut ip = Ipv6Header {
                    traffic_class: 0,
                    flow_label: Ipv6FlowLabel::ZERO,
                    payload_length: length as u16,
                    next_header: IpNumber::TCP,
                    hop_limit: 64,
                    source: from.ip().octets(),
                    destination: to.ip().octets(),
                };
                ip.set_ecn(ecn);
                ip.set_dscp(IpDscp::ZERO);
                tcp.checksum = tcp.calc_checksum_ipv6(&ip, &self.text).expect("its length");
                ip.to_bytes().to_vec()
            }
            _ => panic!("addresses of two families"),
        };
        [ip, tcp.to_bytes().to_vec(), self.text.clone()].concat()
    }

    /// Reads a packet that the stack sent. It must be right in every field, or the test fails.
    pub fn read(packet: &[u8], time: u64) -> Segment {
        let (headers, payload) = IpHeaders::from_slice(packet).expect("an IP packet");
        assert_eq!(payload.ip_number, IpNumber::TCP);
        let (tcp, text) = TcpHeader::from_slice(payload.payload).expect("a TCP segment");
        let (from, to, ecn, dont_fragment, checksum) = match &headers {
            IpHeaders::Ipv4(ip, _) => {
                assert_eq!(ip.header_checksum, ip.calc_header_checksum(), "checksum of the IP header");
                assert_eq!(usize::from(ip.total_len), packet.len(), "length of the packet");
                let checksum = tcp.calc_checksum_ipv4(ip, text).expect("its length");
                (ip.source.into(), ip.destination.into(), ip.ecn.value(), ip.dont_fragment, checksum)
            }
            IpHeaders::Ipv6(ip, _) => {
                assert_eq!(usize::from(ip.payload_length) + 40, packet.len(), "length of the packet");
                let checksum = tcp.calc_checksum_ipv6(ip, text).expect("its length");
                (ip.source.into(), ip.destination.into(), ip.ecn().value(), true, checksum)
            }
        };
        assert_eq!(tcp.checksum, checksum, "checksum of the segment");
        let flags = payload.payload[13];
        Segment {
            from: SocketAddr::new(from, tcp.source_port),
            to: SocketAddr::new(to, tcp.destination_port),
            flags,
            sequence: tcp.sequence_number,
            acknowledgment: tcp.acknowledgment_number,
            window: tcp.window_size,
            urgent: tcp.urgent_pointer,
            ecn,
            dont_fragment,
            options: tcp.options.as_slice().to_vec(),
            text: text.to_vec(),
            time,
        }
    }
}

/// A segment with numbers as scripts write them, for transcripts.
pub struct Shown<'a> {
    pub segment: &'a Segment,
    pub sequence_base: u32,
    pub acknowledgment_base: u32,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.segment;
        let sequence = s.sequence.wrapping_sub(self.sequence_base) as i32;
        write!(f, "{} {sequence}({})", notation::letters(s.flags), s.text.len())?;
        if s.has(ACK) {
            write!(f, " ack {}", s.acknowledgment.wrapping_sub(self.acknowledgment_base) as i32)?;
        }
        write!(f, " win {}", s.window)?;
        if s.has(URG) {
            write!(f, " urg {}", s.urgent)?;
        }
        let ecn = ["", " ect1", " ect0", " ce"][usize::from(s.ecn & 3)];
        write!(f, "{ecn}")?;
        let words = s.option_words(Base { sack: self.acknowledgment_base, echo: 0 });
        if words.is_empty() { Ok(()) } else { write!(f, " <{}>", words.join(",")) }
    }
}

/// The text that both sides send: each byte says where it stands, so that one out of place is seen.
pub fn text(place: u32, length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| byte(place.wrapping_add(i))).collect()
}

fn byte(place: u32) -> u8 {
    (place.wrapping_mul(31) ^ (place >> 8)) as u8
}
