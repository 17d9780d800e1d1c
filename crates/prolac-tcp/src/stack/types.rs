//! What the calls of a stack take and give: names of connections, events, packets with what is known of them.

use clickwork_packet::Packet;

use super::fast_open::FastOpenKeys;
use crate::abi::{option, state};

/// A connection of a stack. It stays valid, whatever the peer does, until the user has left the connection (`close`,
/// `abort`) and the connection is gone; from then on calls with it fail with ENOTCONN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ConnectionId(pub(crate) u64);

/// A listener of a stack, valid until it is closed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ListenerId(pub(crate) u64);

impl ConnectionId {
    /// As a number, for handlers and tables.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The connection with this number; any number will do.
    pub fn from_bits(bits: u64) -> Self {
        ConnectionId(bits)
    }
}

impl ListenerId {
    /// As a number, for handlers and tables.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The listener with this number; any number will do.
    pub fn from_bits(bits: u64) -> Self {
        ListenerId(bits)
    }
}

/// What happened since it was last asked for. Each is told once until it is taken, however often it happened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// Connections wait to be accepted: `accept` until EAGAIN.
    Accepted(ListenerId),
    /// A connection that the user began is established. (Accepted ones always are.)
    Connected(ConnectionId),
    /// There is more to read, or the peer has sent its FIN.
    Readable(ConnectionId),
    /// There is more room to write.
    Writable(ConnectionId),
    /// Urgent data was announced.
    Urgent(ConnectionId),
    /// A soft error: the connection goes on.
    Error(ConnectionId),
    /// The connection is in CLOSED. If the user has left it, its name means nothing any more.
    Closed(ConnectionId),
}

/// States of a connection, RFC 9293 §3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum State {
    Established = state::ESTABLISHED,
    SynSent = state::SYN_SENT,
    SynReceived = state::SYN_RECEIVED,
    FinWait1 = state::FIN_WAIT_1,
    FinWait2 = state::FIN_WAIT_2,
    TimeWait = state::TIME_WAIT,
    Closed = state::CLOSED,
    CloseWait = state::CLOSE_WAIT,
    LastAck = state::LAST_ACK,
    Listen = state::LISTEN,
    Closing = state::CLOSING,
}

impl State {
    pub(crate) fn from_number(number: u8) -> State {
        match number {
            state::ESTABLISHED => State::Established,
            state::SYN_SENT => State::SynSent,
            state::SYN_RECEIVED => State::SynReceived,
            state::FIN_WAIT_1 => State::FinWait1,
            state::FIN_WAIT_2 => State::FinWait2,
            state::TIME_WAIT => State::TimeWait,
            state::CLOSE_WAIT => State::CloseWait,
            state::LAST_ACK => State::LastAck,
            state::LISTEN => State::Listen,
            state::CLOSING => State::Closing,
            _ => State::Closed,
        }
    }

    /// As RFC 9293 writes it.
    pub fn name(self) -> &'static str {
        match self {
            State::Established => "ESTABLISHED",
            State::SynSent => "SYN-SENT",
            State::SynReceived => "SYN-RECEIVED",
            State::FinWait1 => "FIN-WAIT-1",
            State::FinWait2 => "FIN-WAIT-2",
            State::TimeWait => "TIME-WAIT",
            State::Closed => "CLOSED",
            State::CloseWait => "CLOSE-WAIT",
            State::LastAck => "LAST-ACK",
            State::Listen => "LISTEN",
            State::Closing => "CLOSING",
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// What the layer below does for us.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offload {
    /// It completes TCP checksums: packets go down with that of the pseudo-header only.
    pub checksum: bool,
    /// It cuts large segments: most bytes of a packet that it takes, IP header included; 0 if it cuts none. Only with `checksum`.
    pub segmentation: u32,
}

/// What the layer below knows about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// The TCP checksum is right, or need not be looked at.
    pub checksum_verified: bool,
    /// The text of each of the segments that were merged into this packet, in bytes; 0 if it is one segment.
    pub segment_size: u16,
}

/// What a stack may take at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections in any state, and listeners.
    pub connections: usize,
    /// Segments in all queues together.
    pub segments: usize,
    /// Connections in TIME-WAIT that their users have left. The oldest are forgotten first.
    pub time_wait: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 1 << 20, segments: 1 << 20, time_wait: 1 << 17 }
    }
}

/// A packet to send.
#[derive(Debug)]
pub struct Transmit {
    /// IP header, TCP header, and the text if that is whole in the same buffer.
    pub packet: Packet,
    /// The text, if it stands in another buffer.
    pub text: Option<Packet>,
    /// The layer below is to cut the text into pieces of so many bytes; 0 if it need not.
    pub segment_size: u16,
    /// The layer below is to complete the checksum: the field holds the sum of the pseudo-header.
    pub checksum_partial: bool,
    /// Where the TCP header begins.
    pub tcp_offset: u16,
}

impl Transmit {
    /// The packet in one piece; text in another buffer is copied behind the headers.
    pub fn into_packet(self) -> Packet {
        let Transmit { mut packet, text: Some(text), .. } = self else { return self.packet };
        let headers = packet.len();
        if packet.tailroom() < text.len() {
            let mut whole = Packet::recycled(packet.headroom(), headers + text.len(), 0);
            whole.data_mut()[..headers].copy_from_slice(packet.data());
            whole.copy_annotations(&packet);
            packet = whole;
            packet.data_mut()[headers..].copy_from_slice(text.data());
        } else {
            packet.put(text.len())[headers..].copy_from_slice(text.data());
        }
        packet
    }

    /// Bytes of the packet, text included.
    pub fn len(&self) -> usize {
        self.packet.len() + self.text.as_ref().map_or(0, Packet::len)
    }

    /// Never: there is a header.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// What a connection or a listener starts with. Connections that a listener accepts have its options. `None`, and the
/// values of `Default`, leave what the stack's `Config` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Bytes that may wait to be acknowledged; 0: as many as the congestion window needs, up to 4 MiB.
    pub send_buffer: u32,
    /// Bytes that may wait to be read; ends growth by itself.
    pub receive_buffer: Option<u32>,
    /// Send small segments at once (TCP_NODELAY).
    pub no_delay: bool,
    /// Send only full segments (TCP_CORK).
    pub cork: bool,
    /// Probe the peer when nothing happens (SO_KEEPALIVE).
    pub keep_alive: bool,
    /// Milliseconds before the first probe.
    pub keep_idle: Option<u32>,
    /// Milliseconds between probes.
    pub keep_interval: Option<u32>,
    /// Unanswered probes that end the connection.
    pub keep_count: Option<u32>,
    /// Milliseconds that text may stay unacknowledged (TCP_USER_TIMEOUT).
    pub user_timeout: Option<u32>,
    /// Largest segment (TCP_MAXSEG).
    pub mss: Option<u32>,
    /// Acknowledge at once (TCP_QUICKACK).
    pub quick_ack: Option<bool>,
    /// Retransmissions of the SYN (TCP_SYNCNT).
    pub syn_count: Option<u32>,
    /// Milliseconds in FIN-WAIT-2 after the user has left (TCP_LINGER2).
    pub fin_timeout: Option<u32>,
    /// Most bytes of receive window (TCP_WINDOW_CLAMP).
    pub window_clamp: Option<u32>,
    /// Send or accept text in the SYN.
    pub fast_open: bool,
    /// Text in the SYN needs no cookie, here or at the peer (TCP_FASTOPEN_NO_COOKIE).
    pub fast_open_no_cookie: bool,
    /// A listener's keys of cookies (TCP_FASTOPEN_KEY); the stack's if there are none.
    pub fast_open_keys: Option<FastOpenKeys>,
    /// Retransmissions of the SYN-ACK for which a listener waits for a client's text (TCP_DEFER_ACCEPT).
    pub defer_accept: Option<u32>,
    /// Most bytes a second (SO_MAX_PACING_RATE).
    pub pacing_rate: Option<u32>,
    /// Urgent data stay in the stream (SO_OOBINLINE).
    pub out_of_band_inline: bool,
    /// 0 Reno, 1 CUBIC.
    pub congestion_control: Option<u32>,
    /// IP_MTU_DISCOVER.
    pub path_mtu: Option<u32>,
    /// The local port may be that of a connection that is there already (SO_REUSEADDR).
    pub reuse_address: bool,
    /// IP_TOS or IPV6_TCLASS. The two bits of ECN do not count.
    pub traffic_class: u8,
    /// IP_TTL or IPV6_UNICAST_HOPS; 64 if it is not set.
    pub hop_limit: Option<u8>,
    /// A listener on `[::]` takes no IPv4 (IPV6_V6ONLY).
    pub v6only: bool,
}

impl Options {
    /// Those that the TCP is to be told, as numbers of [`crate::abi::option`] with their values.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u32, u32)> {
        let flag = |which, set: bool| set.then_some((which, 1));
        let value = |which, value: Option<u32>| value.map(|value| (which, value));
        [
            flag(option::NO_DELAY, self.no_delay),
            flag(option::CORK, self.cork),
            value(option::KEEP_IDLE, self.keep_idle),
            value(option::KEEP_INTERVAL, self.keep_interval),
            value(option::KEEP_COUNT, self.keep_count),
            flag(option::KEEP_ALIVE, self.keep_alive),
            value(option::USER_TIMEOUT, self.user_timeout),
            value(option::MAX_SEGMENT, self.mss),
            value(option::RECEIVE_BUFFER, self.receive_buffer),
            value(option::QUICK_ACK, self.quick_ack.map(u32::from)),
            value(option::SYN_COUNT, self.syn_count),
            value(option::FIN_TIMEOUT, self.fin_timeout),
            value(option::WINDOW_CLAMP, self.window_clamp),
            flag(option::FAST_OPEN, self.fast_open),
            value(option::DEFER_ACCEPT, self.defer_accept),
            value(option::PACING_RATE, self.pacing_rate),
            flag(option::FAST_OPEN_NO_COOKIE, self.fast_open_no_cookie),
            flag(option::OUT_OF_BAND_INLINE, self.out_of_band_inline),
            value(option::CONGESTION_CONTROL, self.congestion_control),
            value(option::PATH_MTU, self.path_mtu),
        ]
        .into_iter()
        .flatten()
    }
}
