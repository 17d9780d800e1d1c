//! One flow and its file: what has come since the file was last written.

use crate::capture::summary::options;
use crate::capture::summary::print::TCP_FLAG_LETTERS;
use crate::capture::summary::tcp_options::{self, Shown};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Ipv4, Tcp, ipv4::protocol};
use clickwork_packet::{Packet, Timestamp, anno};
use clickwork_source::text::into_bytes;
use std::fmt::Write;

/// Addresses and ports of a flow, in the direction of its first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId {
    /// Whether it is TCP; else UDP.
    pub is_tcp: bool,
    /// Source address.
    pub source: Ipv4Address,
    /// Source port.
    pub source_port: u16,
    /// Destination address.
    pub destination: Ipv4Address,
    /// Destination port.
    pub destination_port: u16,
}

impl FlowId {
    /// `T` or `U`.
    pub fn letter(&self) -> char {
        if self.is_tcp { 'T' } else { 'U' }
    }

    fn reversed(self) -> FlowId {
        FlowId {
            source: self.destination,
            source_port: self.destination_port,
            destination: self.source,
            destination_port: self.source_port,
            ..self
        }
    }

    /// That of a packet; of the packet it is about, if it is an ICMP error.
    pub fn of(p: &Packet) -> Option<FlowId> {
        let network = p.network_bytes()?;
        let ip = Ipv4::new(network)?;
        let inner = match ip.protocol {
            protocol::ICMP => network.get(ip.ihl() + 8..)?,
            _ => network,
        };
        let ip = Ipv4::new(inner)?;
        let is_tcp = match ip.protocol {
            protocol::TCP => true,
            protocol::UDP => false,
            _ => return None,
        };
        let &[a, b, c, d] = inner.get(ip.ihl()..)?.first_chunk()?;
        let id = FlowId {
            is_tcp,
            source: ip.source(),
            source_port: u16::from_be_bytes([a, b]),
            destination: ip.destination(),
            destination_port: u16::from_be_bytes([c, d]),
        };
        Some(if p.paint() & 1 == 1 { id.reversed() } else { id })
    }
}

/// What is written about packets.
#[derive(Clone, Copy, Default)]
pub struct Style {
    /// Times are not counted from the first packet.
    pub absolute_time: bool,
    /// TCP sequence numbers are not counted from the first one.
    pub absolute_sequence: bool,
    /// Records are binary.
    pub binary: bool,
    /// Which TCP options are written.
    pub tcp_options: Option<Shown>,
    /// TCP windows are written.
    pub tcp_window: bool,
    /// IP identifications are written.
    pub ip_id: bool,
}

/// Records are written when there are so many packets or notes.
const MAX_PACKETS: usize = 128;
const MAX_NOTES: usize = 32;
const UDP_HEADER: usize = 8;
const TEXT_RECORD: u32 = 0x8000_0000;

/// One flow.
pub struct Flow {
    id: FlowId,
    aggregate: u32,
    style: Style,
    first_time: Timestamp,
    /// The number from which sequence numbers count, by direction.
    first_sequence: [Option<u32>; 2],
    records: Vec<u8>,
    waiting: [usize; 2],
    /// Packets seen.
    pub packets: u32,
    /// Its file.
    pub file: String,
    /// Whether the file has been begun.
    pub is_begun: bool,
    /// When it was last looked up, as a count of packets.
    pub used: u64,
}

impl Flow {
    /// The flow that a packet begins.
    pub fn new(id: FlowId, p: &Packet, file: String, style: Style) -> Flow {
        let epsilon = Timestamp::from_nanos(1);
        let first_sequence = if style.absolute_sequence { Some(0) } else { None };
        Flow {
            id,
            aggregate: p.anno_u32(anno::AGGREGATE),
            style,
            first_time: if style.absolute_time { Timestamp::ZERO } else { p.timestamp() - epsilon },
            first_sequence: [first_sequence; 2],
            records: Vec::new(),
            waiting: [0; 2],
            packets: 0,
            file,
            is_begun: false,
            used: 0,
        }
    }

    /// Whether records should be written before more are added.
    pub fn is_full(&self) -> bool {
        self.waiting[0] >= MAX_PACKETS || self.waiting[1] >= MAX_NOTES
    }

    /// What has come since the last call, after the header lines the first time.
    pub fn take_records(&mut self) -> Vec<u8> {
        let mut out = if self.is_begun { Vec::new() } else { into_bytes(self.header()) };
        self.is_begun = true;
        self.waiting = [0; 2];
        out.append(&mut self.records);
        out
    }

    fn header(&self) -> String {
        let FlowId { source, source_port, destination, destination_port, .. } = self.id;
        let mut text = format!(
            "!IPSummaryDump 1.3\n!flowid {source} {source_port} {destination} {destination_port} {}\n!aggregate {}\n!data {}\n",
            self.id.letter(),
            self.aggregate,
            self.fields()
        );
        for (mark, first) in ['>', '<'].into_iter().zip(self.first_sequence) {
            if let Some(first) = first.filter(|first| *first != 0 && self.id.is_tcp) {
                let _ = writeln!(text, "!firstseq {mark} {first}");
            }
        }
        if !self.first_time.is_zero() {
            let _ = writeln!(text, "!firsttime {}", self.first_time);
        }
        if self.style.binary {
            text.push_str("!binary\n");
        }
        text
    }

    fn fields(&self) -> String {
        let Style { binary, ip_id, tcp_window, .. } = self.style;
        let options = if self.style.tcp_options == Some(Shown::All) { "tcp_opt" } else { "tcp_ntopt" };
        let is_tcp = self.id.is_tcp;
        let fields: &[(&str, bool)] = if binary {
            &[
                ("tcp_seq", is_tcp),
                ("payload_len", true),
                ("tcp_ack", is_tcp),
                ("ip_id", ip_id),
                ("tcp_window", is_tcp && tcp_window),
                ("tcp_flags", is_tcp),
                ("direction", true),
                (options, is_tcp),
            ]
        } else {
            &[
                ("direction", true),
                ("ip_id", ip_id),
                ("tcp_flags", is_tcp),
                ("tcp_seq", is_tcp),
                ("payload_len", true),
                ("tcp_ack", is_tcp),
                ("tcp_window", is_tcp && tcp_window),
                (options, is_tcp),
            ]
        };
        let given = fields.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
        ["ntimestamp"].into_iter().chain(given).collect::<Vec<_>>().join(" ")
    }

    /// Adds a packet; those that do not belong to the flow's protocol are ignored.
    pub fn add(&mut self, p: &Packet) {
        if p.paint() >= 2 {
            let mark = if p.paint() & 1 == 1 { '>' } else { '<' };
            self.packets = self.packets.saturating_add(1);
            return self.note(&format!("{} {mark} ICMP_error", p.timestamp()));
        }
        let Some(ip) = p.network_bytes().and_then(Ipv4::new) else { return };
        let transport = p.network_bytes().and_then(|data| data.get(ip.ihl()..)).unwrap_or_default();
        let direction = p.paint() & 1;
        let time = p.timestamp() - self.first_time;
        let payload = usize::from(ip.total_len()).saturating_sub(ip.ihl());
        match (ip.protocol, self.id.is_tcp) {
            (protocol::TCP, true) => {
                let Some(tcp) = Tcp::new(transport) else { return };
                let segment = self.segment(&tcp, direction);
                let payload = payload.saturating_sub(tcp.data_offset());
                self.record(time, direction, payload as u32, ip.identification(), Some(&segment));
            }
            (protocol::UDP, false) => {
                let payload = payload.saturating_sub(UDP_HEADER);
                self.record(time, direction, payload as u32, ip.identification(), None);
            }
            _ => return,
        }
        self.packets = self.packets.saturating_add(1);
        self.waiting[0] += 1;
    }

    fn note(&mut self, text: &str) {
        let line = format!("#{text}\n");
        if self.style.binary {
            let length = line.len() as u32 + 4;
            self.records.extend((length | TEXT_RECORD).to_be_bytes());
        }
        self.records.extend(into_bytes(line));
        self.waiting[1] += 1;
    }

    /// What is written of a segment: its numbers count from the first ones seen.
    fn segment(&mut self, tcp: &Tcp<'_>, direction: u8) -> Segment {
        let (own, other) = (usize::from(direction), usize::from(direction ^ 1));
        let sequence = tcp.sequence().wrapping_sub(*self.first_sequence[own].get_or_insert(tcp.sequence()));
        let flags = tcp.flags;
        let acknowledgement = match flags & 0x10 {
            0 => 0,
            _ => {
                let number = tcp.acknowledgment();
                number.wrapping_sub(*self.first_sequence[other].get_or_insert(number))
            }
        };
        let options = self.style.tcp_options.and_then(|shown| self.options(tcp.option_bytes(), shown, other));
        Segment { sequence, acknowledgement, flags, window: tcp.window(), options }
    }

    /// The options that are written, with the numbers of SACK blocks counted from the first; none if there are none, or
    /// one is wrong.
    fn options(&mut self, list: &[u8], shown: Shown, other: usize) -> Option<Vec<u8>> {
        let mut kept = Vec::new();
        for option in options::walk(list) {
            let option = option.ok()?;
            let length = option.bytes.len();
            match (option.kind, length) {
                (2, 4) | (3, 3) | (4, 2) => kept.extend(option.bytes),
                (8, 10) if shown == Shown::All => kept.extend(option.bytes),
                (8, 10) => {}
                (5, _) if length % 8 == 2 => {
                    kept.extend(&option.bytes[..2]);
                    for edge in option.bytes[2..].as_chunks().0 {
                        let edge = u32::from_be_bytes(*edge);
                        let first = *self.first_sequence[other].get_or_insert(edge);
                        kept.extend(edge.wrapping_sub(first).to_be_bytes());
                    }
                }
                (2 | 3 | 4 | 5 | 8, _) => return None,
                _ => {}
            }
        }
        (!kept.is_empty()).then_some(kept)
    }

    fn record(&mut self, time: Timestamp, direction: u8, payload: u32, id: u16, segment: Option<&Segment>) {
        match self.style.binary {
            true => self.binary_record(time, direction, payload, id, segment),
            false => self.text_record(time, direction, payload, id, segment),
        }
    }

    fn text_record(
        &mut self,
        time: Timestamp,
        direction: u8,
        payload: u32,
        id: u16,
        segment: Option<&Segment>,
    ) {
        let mut line = format!("{time} {}", if direction == 0 { '>' } else { '<' });
        if self.style.ip_id {
            let _ = write!(line, " {id}");
        }
        let _ = match segment {
            Some(s) => {
                write!(line, " {} {} {payload} {}", flags_text(s.flags), s.sequence, s.acknowledgement)
            }
            None => write!(line, " {payload}"),
        };
        if let Some(s) = segment.filter(|_| self.style.tcp_window) {
            let _ = write!(line, " {}", s.window);
        }
        if let Some(options) = segment.and_then(|s| s.options.as_deref()) {
            line.push(' ');
            line.push_str(&tcp_options::print(options, Shown::All));
        }
        line.push('\n');
        self.records.extend(into_bytes(line));
    }

    fn binary_record(
        &mut self,
        time: Timestamp,
        direction: u8,
        payload: u32,
        id: u16,
        segment: Option<&Segment>,
    ) {
        let mut record = Vec::new();
        let mut word = |value: u32| record.extend(value.to_be_bytes());
        word(0);
        word(time.seconds() as u32);
        word(time.subsec_nanos());
        segment.into_iter().for_each(|s| word(s.sequence));
        word(payload);
        segment.into_iter().for_each(|s| word(s.acknowledgement));
        if self.style.ip_id {
            record.extend(id.to_be_bytes());
        }
        if let Some(s) = segment {
            if self.style.tcp_window {
                record.extend(s.window.to_be_bytes());
            }
            record.push(s.flags);
        }
        record.push(direction);
        if let Some(options) = segment.and_then(|s| s.options.as_deref()) {
            record.push(options.len() as u8);
            record.extend(options);
        }
        let length = record.len() as u32;
        record[..4].copy_from_slice(&length.to_be_bytes());
        self.records.extend(record);
    }
}

/// What is written of a TCP segment.
struct Segment {
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    window: u16,
    options: Option<Vec<u8>>,
}

fn flags_text(flags: u8) -> String {
    match flags {
        0 => ".".to_owned(),
        0x18 => "PA".to_owned(),
        _ => TCP_FLAG_LETTERS
            .chars()
            .take(8)
            .enumerate()
            .filter(|(bit, _)| flags >> bit & 1 == 1)
            .map(|(_, c)| c)
            .collect(),
    }
}
