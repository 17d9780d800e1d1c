//! The shadow of one connection. Positions are counted from an end's initial sequence number.

use std::collections::HashSet;

use super::ranges::Ranges;
use super::segment::Segment;

/// What is known of the ends.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The largest packet that each may send.
    pub mtu: [usize; 2],
    /// The MSS where the peer names none.
    pub default_mss: u16,
    /// Whether all SYN-ACKs are cookies: those remember no small MSS, and answer an old SYN as they did the first time.
    pub cookies: bool,
    /// The byte that end `.0` sends at `.1`, on the connection with client port `.2`; None if texts are not looked at.
    pub text: Option<fn(usize, u64, u16) -> u8>,
    /// Whether text may come before the handshake is over (fast open).
    pub early_text: bool,
}

/// What one end has said and has been given.
#[derive(Clone, Debug, Default)]
struct Half {
    initial: Option<u32>,
    /// Behind the last number sent.
    end: i64,
    fin: Option<i64>,
    mss: Option<u16>,
    scale: Option<u8>,
    sack: bool,
    timestamps: bool,
    /// Of what it sent, what has arrived.
    arrived: Ranges,
    /// The right edges of windows: what it was offered, what it has offered.
    offered: i64,
    has_offered: Option<i64>,
    /// Timestamps: the last one that it sent, and all that arrived at the other end.
    last_stamp: Option<u32>,
    stamps: HashSet<u32>,
    /// Whether the other end's SYN has arrived here.
    open: bool,
}

impl Half {
    fn position(&self, seq: u32) -> Option<i64> {
        self.initial.map(|initial| i64::from(seq.wrapping_sub(initial) as i32))
    }
}

/// Both halves.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    halves: [Half; 2],
}

impl Flow {
    /// Checks a segment that `end` sends; how many bytes of text were sent before.
    pub fn sent(&mut self, end: usize, s: &Segment, rules: &Rules) -> Result<u64, String> {
        if s.rst {
            return if s.text.is_empty() { Ok(0) } else { Err("a reset with text".to_string()) };
        }
        if s.syn {
            self.syn(end, s)?;
        }
        let start = self.halves[end].position(s.seq).ok_or("there was no SYN")?;
        self.check_acknowledgment(end, s, rules.cookies)?;
        self.check_options(end, s)?;
        self.check_text(end, start, s, rules)?;
        self.note_sent(end, start, s)
    }

    /// A SYN begins a half, or repeats what it said.
    fn syn(&mut self, end: usize, s: &Segment) -> Result<(), String> {
        if s.has_ack && self.halves[1 - end].initial.is_none() {
            return Err("a SYN-ACK without a SYN".to_string());
        }
        let half = &mut self.halves[end];
        half.initial = Some(s.seq);
        half.mss = s.options.mss;
        half.scale = s.options.scale;
        half.sack = s.options.sack_permitted;
        half.timestamps = s.options.timestamps.is_some();
        Ok(())
    }

    /// The connection that a SYN begins, if the ports are used again. A SYN-ACK answers the other end's SYN, perhaps an
    /// old one.
    pub fn next(&self, end: usize, s: &Segment) -> Option<Flow> {
        if !s.syn || s.rst || self.halves[end].initial.is_none_or(|initial| initial == s.seq) {
            return None;
        }
        let mut halves = [Half::default(), Half::default()];
        if s.has_ack {
            let Half { initial, mss, scale, sack, timestamps, stamps, offered, .. } =
                self.halves[1 - end].clone();
            halves[1 - end] =
                Half { initial, mss, scale, sack, timestamps, stamps, end: 1, ..Half::default() };
            halves[1 - end].arrived.insert(0, 1);
            halves[end].open = true;
            halves[end].offered = offered.max(0);
        }
        Some(Flow { halves })
    }

    fn check_acknowledgment(&mut self, end: usize, s: &Segment, is_cookie: bool) -> Result<(), String> {
        if !s.has_ack {
            return if s.syn { Ok(()) } else { Err("neither ACK nor SYN nor RST".to_string()) };
        }
        let scaled = self.scaled();
        let peer = &self.halves[1 - end];
        let ack = peer.position(s.ack).ok_or("it acknowledges what has no SYN")?;
        let given = peer.arrived.end_of_run(0);
        if !(1..=given).contains(&ack) {
            return Err(format!("it acknowledges {ack}; {given} was received in order"));
        }
        let shift = if s.syn || !scaled { 0 } else { self.halves[end].scale.unwrap_or(0).min(14) };
        let edge = ack + (i64::from(s.window) << shift);
        let half = &mut self.halves[end];
        // RFC 7323 §2.4: the shift may take back less than one unit.
        let unit = 1 << half.scale.filter(|_| scaled).unwrap_or(0).min(14);
        if let Some(before) = half.has_offered.filter(|before| edge + unit <= *before && !is_cookie) {
            return Err(format!("it takes back window: the right edge goes from {before} to {edge}"));
        }
        half.has_offered = Some(edge.max(half.has_offered.unwrap_or(edge)));
        Ok(())
    }

    fn check_options(&mut self, end: usize, s: &Segment) -> Result<(), String> {
        if !s.syn && (s.options.mss.is_some() || s.options.scale.is_some() || s.options.sack_permitted) {
            return Err("an option that belongs to a SYN".to_string());
        }
        self.check_sack(end, s)?;
        self.check_timestamps(end, s)
    }

    fn check_sack(&self, end: usize, s: &Segment) -> Result<(), String> {
        let peer = &self.halves[1 - end];
        if s.options.sack.is_empty() {
            return Ok(());
        }
        if !(self.halves[end].sack && peer.sack) {
            return Err("SACK blocks without SACK-permitted".to_string());
        }
        let ack = peer.position(s.ack).unwrap_or(0);
        for (index, (from, to)) in s.options.sack.iter().enumerate() {
            let from = peer.position(*from).ok_or("no SYN")?;
            let to = peer.position(*to).ok_or("no SYN")?;
            let duplicate = index == 0; // RFC 2883 §4: the first one may be
            if from >= to || !peer.arrived.contains(from, to) {
                return Err(format!("SACK {from}:{to} was not received"));
            }
            if !duplicate && from <= ack {
                return Err(format!("SACK {from}:{to} is not above {ack}"));
            }
        }
        Ok(())
    }

    fn check_timestamps(&mut self, end: usize, s: &Segment) -> Result<(), String> {
        let both = self.halves.iter().all(|half| half.timestamps && half.initial.is_some());
        let Some((value, echo)) = s.options.timestamps else {
            return if both { Err("the timestamp is missing".to_string()) } else { Ok(()) };
        };
        if !s.syn && !both {
            return Err("a timestamp that was not agreed on".to_string());
        }
        if s.has_ack && !self.halves[1 - end].stamps.contains(&echo) {
            return Err(format!("it echoes the timestamp {echo}, which it was not given"));
        }
        let half = &mut self.halves[end];
        if half.last_stamp.is_some_and(|last| (value.wrapping_sub(last) as i32) < 0) {
            return Err("its timestamp goes back".to_string());
        }
        half.last_stamp = Some(value);
        Ok(())
    }

    fn check_text(&self, end: usize, start: i64, s: &Segment, rules: &Rules) -> Result<(), String> {
        let (half, peer) = (&self.halves[end], &self.halves[1 - end]);
        let length = s.text.len() as i64;
        if s.packet_length > rules.mtu[end] {
            return Err(format!("{} bytes are more than the MTU", s.packet_length));
        }
        let mss = peer.mss.filter(|_| half.open).unwrap_or(rules.default_mss);
        let unknown = rules.early_text && !half.open;
        let mss = if rules.cookies { mss.max(rules.default_mss) } else { mss };
        let mss = if unknown { u16::MAX } else { mss };
        let mss = usize::from(mss);
        if s.text.len() + s.option_bytes > mss.max(s.option_bytes + 1) {
            return Err(format!("{length} bytes and {} of options; the peer's MSS is {mss}", s.option_bytes));
        }
        if length > 0 && !half.open && !rules.early_text {
            return Err("text before the peer's SYN".to_string());
        }
        let end_of_text = start + i64::from(s.syn) + length;
        let beyond = |fin| (length > 0 && end_of_text > fin) || (s.fin && end_of_text != fin);
        if half.fin.is_some_and(beyond) {
            return Err(format!("text or FIN to {end_of_text} when the FIN stood at {:?}", half.fin));
        }
        let probe = length == 1 && !s.fin;
        let end_of_all = end_of_text + i64::from(s.fin);
        if half.open && s.span() > 0 && !s.syn && end_of_all > half.offered.max(half.end) && !probe {
            return Err(format!("it goes to {end_of_all}, the window to {}", half.offered));
        }
        check_bytes(end, start, s, rules, if end == 0 { s.ports.0 } else { s.ports.1 })
    }

    fn note_sent(&mut self, end: usize, start: i64, s: &Segment) -> Result<u64, String> {
        let half = &mut self.halves[end];
        let text = start + i64::from(s.syn);
        let end_of_text = text + s.text.len() as i64;
        if s.fin {
            half.fin = Some(end_of_text);
        }
        let end_of_all = end_of_text + i64::from(s.fin);
        let again = (half.end.min(end_of_text) - text).max(0) as u64;
        if !s.syn && s.span() > 0 && text > half.end {
            return Err(format!("it leaves out {} to {text}", half.end));
        }
        // The last one again may be a probe: of a window, or for losses at the end (RFC 8985 §7), which may come before an
        // acknowledgment that is delayed.
        let probe = s.text.len() == 1 || end_of_all == half.end;
        half.end = half.end.max(end_of_all).max(i64::from(s.syn));
        Ok(if probe { 0 } else { again })
    }

    fn scaled(&self) -> bool {
        self.halves.iter().all(|half| half.scale.is_some())
    }

    /// A segment from `end` has arrived at the other one.
    pub fn arrived(&mut self, end: usize, s: &Segment) {
        if s.rst {
            return;
        }
        let scaled = self.scaled();
        let Some(start) = self.halves[end].position(s.seq) else { return };
        self.halves[end].arrived.insert(start, start + i64::from(s.span()));
        if let Some((value, _)) = s.options.timestamps {
            self.halves[end].stamps.insert(value);
        }
        let scale = if scaled && !s.syn { self.halves[end].scale.unwrap_or(0).min(14) } else { 0 };
        let other = &mut self.halves[1 - end];
        other.open |= s.syn;
        if let (true, Some(ack)) = (s.has_ack, other.position(s.ack)) {
            other.offered = other.offered.max(ack + (i64::from(s.window) << scale));
        } else if s.syn {
            other.offered = other.offered.max(1 + i64::from(s.window));
        }
    }
}

/// Every byte is what the user wrote there, the first time and every time.
fn check_bytes(end: usize, start: i64, s: &Segment, rules: &Rules, client_port: u16) -> Result<(), String> {
    let Some(byte) = rules.text else { return Ok(()) };
    let first = start + i64::from(s.syn) - 1;
    for (index, found) in s.text.iter().enumerate() {
        let at = first + index as i64;
        let garbage = at < 0; // a keep-alive's
        if !garbage && byte(end, at as u64, client_port) != *found {
            return Err(format!("the byte at {at} is {found:02x}"));
        }
    }
    Ok(())
}
