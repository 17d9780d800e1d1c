//! A packet as etherparse reads it: an independent eye on what our TCP sends.

use std::fmt;

use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TcpOptionReadError, TransportSlice};

/// What is looked at of a TCP segment.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    pub ports: (u16, u16),
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub urgent: u16,
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    pub has_ack: bool,
    pub psh: bool,
    pub urg: bool,
    pub ece: bool,
    pub cwr: bool,
    pub options: Options,
    /// Bytes of options in the header.
    pub option_bytes: usize,
    pub text: Vec<u8>,
    /// Of the whole packet.
    pub packet_length: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u16>,
    pub scale: Option<u8>,
    pub sack_permitted: bool,
    pub timestamps: Option<(u32, u32)>,
    pub sack: Vec<(u32, u32)>,
}

impl Segment {
    /// Numbers of the sequence space that it takes.
    pub fn span(&self) -> u32 {
        self.text.len() as u32 + u32::from(self.syn) + u32::from(self.fin)
    }

    /// Parses an IP packet and checks its checksums.
    pub fn parse(bytes: &[u8]) -> Result<Segment, String> {
        let packet = SlicedPacket::from_ip(bytes).map_err(|error| format!("malformed: {error}"))?;
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else {
            return Err("no TCP segment in it".to_string());
        };
        check_ip(packet.net.as_ref(), bytes.len())?;
        let expected = match packet.net.as_ref() {
            Some(NetSlice::Ipv4(ip)) => {
                tcp.calc_checksum_ipv4(ip.header().source(), ip.header().destination())
            }
            Some(NetSlice::Ipv6(ip)) => {
                tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination())
            }
            _ => return Err("no IP header".to_string()),
        };
        if expected != Ok(tcp.checksum()) {
            return Err(format!("TCP checksum is {:04x}, should be {expected:04x?}", tcp.checksum()));
        }
        Ok(Segment {
            ports: (tcp.source_port(), tcp.destination_port()),
            seq: tcp.sequence_number(),
            ack: tcp.acknowledgment_number(),
            window: tcp.window_size(),
            urgent: tcp.urgent_pointer(),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            has_ack: tcp.ack(),
            psh: tcp.psh(),
            urg: tcp.urg(),
            ece: tcp.ece(),
            cwr: tcp.cwr(),
            options: options(tcp)?,
            option_bytes: tcp.options().len(),
            text: tcp.payload().to_vec(),
            packet_length: bytes.len(),
        })
    }
}

fn check_ip(net: Option<&NetSlice<'_>>, length: usize) -> Result<(), String> {
    let (total, ttl) = match net {
        Some(NetSlice::Ipv4(ip)) => {
            let header = ip.header().to_header();
            if header.calc_header_checksum() != header.header_checksum {
                return Err("the IP header's checksum is wrong".to_string());
            }
            (usize::from(header.total_len), header.time_to_live)
        }
        Some(NetSlice::Ipv6(ip)) => (40 + usize::from(ip.header().payload_length()), ip.header().hop_limit()),
        _ => return Err("no IP header".to_string()),
    };
    if total != length || ttl == 0 {
        return Err(format!("{length} bytes, {total} in the IP header, TTL {ttl}"));
    }
    Ok(())
}

fn options(tcp: &etherparse::TcpSlice<'_>) -> Result<Options, String> {
    let mut options = Options::default();
    for option in tcp.options_iterator() {
        // Fast open's option is unknown to etherparse, and the last.
        if let Err(TcpOptionReadError::UnknownId(34)) = option {
            break;
        }
        match option.map_err(|error| format!("malformed options: {error}"))? {
            TcpOptionElement::MaximumSegmentSize(mss) => options.mss = Some(mss),
            TcpOptionElement::WindowScale(scale) => options.scale = Some(scale),
            TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            TcpOptionElement::Timestamp(value, echo) => options.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                options.sack.push(first);
                options.sack.extend(rest.into_iter().flatten());
            }
            TcpOptionElement::Noop => {}
        }
    }
    Ok(options)
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.syn, 'S'),
            (self.fin, 'F'),
            (self.rst, 'R'),
            (self.psh, 'P'),
            (self.has_ack, '.'),
            (self.urg, 'U'),
            (self.ece, 'E'),
            (self.cwr, 'W'),
        ];
        let flags: String = flags.iter().filter(|f| f.0).map(|f| f.1).collect();
        let Segment { ports, seq, ack, window, .. } = self;
        let end = seq.wrapping_add(self.text.len() as u32);
        write!(f, "{}>{} {flags} {seq}:{end}({}) ack {ack} win {window}", ports.0, ports.1, self.text.len())?;
        if self.urg {
            write!(f, " urg {}", self.urgent)?;
        }
        let Options { mss, scale, sack_permitted, timestamps, sack } = &self.options;
        if let Some(mss) = mss {
            write!(f, " mss {mss}")?;
        }
        if let Some(scale) = scale {
            write!(f, " scale {scale}")?;
        }
        if *sack_permitted {
            write!(f, " sackOK")?;
        }
        if let Some((value, echo)) = timestamps {
            write!(f, " ts {value} {echo}")?;
        }
        sack.iter().try_for_each(|(from, to)| write!(f, " sack {from}:{to}"))
    }
}
