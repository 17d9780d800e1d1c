//! One connection of a WebGen: asks for a page, takes the answer without looking at it, and closes.
//!
//! It knows no time and no packets: it is told what arrived, and says what to send.

use super::super::tcp::before;
use clickwork_packet::headers::TcpHeader;
use clickwork_packet::headers::tcp::flag;

/// The window it announces.
const WINDOW: u16 = 60 * 1024;

/// A connection. Names of fields as in RFC 9293 §3.3.1.
#[derive(Debug)]
pub struct Connection {
    request: Vec<u8>,
    iss: u32,
    snd_una: u32,
    snd_nxt: u32,
    rcv_nxt: u32,
    connected: bool,
    got_fin: bool,
    sent_fin: bool,
    /// Something arrived that wants an answer.
    owes: bool,
    /// How often it was resent.
    pub resends: u32,
}

/// What became of a connection when a segment arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It goes on.
    Open,
    /// The peer has reset it.
    Reset,
}

/// A segment that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Its header.
    pub tcp: TcpHeader,
    /// Bytes of payload.
    pub payload: u32,
}

/// A segment to send.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// Its header, without ports and checksum.
    pub tcp: TcpHeader,
    /// Its payload.
    pub payload: &'a [u8],
    /// The connection is complete with it.
    pub is_last: bool,
}

impl Connection {
    /// A connection that has sent nothing yet.
    pub fn new(iss: u32, request: Vec<u8>) -> Connection {
        Connection {
            request,
            iss,
            snd_una: iss,
            snd_nxt: iss,
            rcv_nxt: 0,
            connected: false,
            got_fin: false,
            sent_fin: false,
            owes: false,
            resends: 0,
        }
    }

    /// Takes note of what arrived.
    pub fn arrived(&mut self, Arrived { tcp, payload }: Arrived) -> Fate {
        let first = self.iss.wrapping_add(1);
        let end = tcp.sequence().wrapping_add(payload);
        let answers = tcp.flags & (flag::ACK | flag::RST) == flag::ACK && tcp.acknowledgment() == first;
        if answers && !self.connected {
            (self.snd_nxt, self.snd_una) = (first, first);
            self.rcv_nxt = tcp.sequence().wrapping_add(1);
            (self.connected, self.owes) = (true, true);
        } else if payload > 0 {
            self.owes = true;
            if before(self.rcv_nxt, end) {
                self.rcv_nxt = end;
            }
        }
        if tcp.flags & flag::ACK != 0 && before(self.snd_una, tcp.acknowledgment()) {
            self.snd_una = tcp.acknowledgment();
        }
        if tcp.flags & flag::FIN != 0 && end == self.rcv_nxt && !self.got_fin {
            (self.got_fin, self.owes) = (true, true);
            self.rcv_nxt = self.rcv_nxt.wrapping_add(1);
        }
        if tcp.flags & flag::RST != 0 { Fate::Reset } else { Fate::Open }
    }

    /// What to send now, also when nothing was heard for long; nothing if there is no need.
    pub fn outgoing(&mut self) -> Option<Outgoing<'_>> {
        let first = self.iss.wrapping_add(1);
        let acknowledged = self.snd_una.wrapping_sub(first) as usize;
        let payload: &[u8] =
            if self.connected && acknowledged < self.request.len() { &self.request } else { &[] };
        let sequence = if payload.is_empty() {
            self.snd_nxt.wrapping_add(self.sent_fin.into())
        } else {
            self.snd_nxt = first.wrapping_add(payload.len() as u32);
            first
        };
        if self.connected && !self.owes && payload.is_empty() {
            return None;
        }
        self.owes = false;
        let mut tcp = TcpHeader::default();
        tcp.set_window(WINDOW);
        tcp.set_sequence(sequence);
        tcp.flags = if self.connected { flag::ACK } else { flag::SYN };
        if self.connected {
            tcp.set_acknowledgment(self.rcv_nxt);
        }
        if !payload.is_empty() {
            tcp.flags |= flag::PSH | flag::FIN;
        }
        if self.connected && self.got_fin {
            tcp.flags |= flag::FIN;
        }
        self.sent_fin |= tcp.flags & flag::FIN != 0;
        Some(Outgoing { tcp, payload, is_last: self.sent_fin && self.got_fin })
    }
}
