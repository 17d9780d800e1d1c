//! What Rust and the generated C have in common. Mirrors `include/environment.h` and the fields with fixed offsets of
//! `tcp/base/tcb.pc`, `tcp/base/segment.pc` and `tcp/base/config.pc`; change them together.

use std::ffi::c_void;

use clickwork_packet::Packet;

/// A connection as the environment sees it: the fields of `Base.TCB` with fixed offsets. Protocol state follows it in
/// memory; [`Entries::tcb_size`] says how much.
#[repr(C)]
pub struct Tcb {
    /// What callbacks get as their first argument.
    pub stack: *mut c_void,
    /// Free for the environment: which connection this is.
    pub user: u64,
    /// The listener that it came from and has not left yet.
    pub listener: *mut Tcb,
    /// Parameters, shared by the connections of a stack.
    pub config: *const Config,
    /// When it was last entered, in microseconds.
    pub now: u64,
    /// When [`Entries::timeout`] is to be called, in microseconds; `u64::MAX` for never.
    pub deadline: u64,
    /// Text received in order and not read yet, in bytes.
    pub readable: u32,
    /// Text written and not acknowledged yet, sent or not, in bytes.
    pub queued: u32,
    /// What happened: bits of [`event`]; the environment clears them.
    pub events: u32,
    /// Why it was closed: an `errno` of Linux, or 0.
    pub error: i32,
    /// The state: [`state`].
    pub state: u8,
    /// 4 or 6.
    pub family: u8,
    /// In host byte order.
    pub local_port: u16,
    /// In host byte order.
    pub remote_port: u16,
    /// Bytes of IP header in front of a segment, with options.
    pub ip_header_length: u16,
    /// IPv4 addresses stand in the first four bytes.
    pub local_address: [u8; 16],
    /// See `local_address`.
    pub remote_address: [u8; 16],
    /// A listener's: the most connections that may wait to be accepted.
    pub backlog: u32,
    /// A listener's: connections in SYN-RECEIVED.
    pub half_open: u32,
    /// A listener's: established connections that wait to be accepted. The environment decrements it.
    pub waiting: u32,
    /// Largest text that can go to the layer below in one piece; more than a segment if that layer cuts it.
    pub offload_size: u32,
    /// Text that fits into one segment now, in bytes, for those who fill buffers.
    pub segment_size: u32,
    /// Text that a segment should have at least that is given to be sent, if there is so much; 0: `segment_size`.
    pub buffer_size: u32,
}

/// States, RFC 9293 §3.3.2, numbered as in Linux.
pub mod state {
    #![allow(missing_docs)]
    pub const ESTABLISHED: u8 = 1;
    pub const SYN_SENT: u8 = 2;
    pub const SYN_RECEIVED: u8 = 3;
    pub const FIN_WAIT_1: u8 = 4;
    pub const FIN_WAIT_2: u8 = 5;
    pub const TIME_WAIT: u8 = 6;
    pub const CLOSED: u8 = 7;
    pub const CLOSE_WAIT: u8 = 8;
    pub const LAST_ACK: u8 = 9;
    pub const LISTEN: u8 = 10;
    pub const CLOSING: u8 = 11;
}

/// What happened to a connection, in [`Tcb::events`].
pub mod event {
    /// There is more to read, or the peer has sent its FIN.
    pub const READABLE: u32 = 1;
    /// Acknowledgments have made room in the send queue.
    pub const WRITABLE: u32 = 2;
    /// The connection is established.
    pub const CONNECTED: u32 = 4;
    /// The connection came to CLOSED; `error` says why. Nothing refers to the TCB any more but the environment.
    pub const CLOSED: u32 = 8;
    /// Urgent data was announced.
    pub const URGENT: u32 = 16;
    /// The peer has sent its FIN, and all text before it is there.
    pub const PEER_CLOSED: u32 = 32;
    /// A soft error (an ICMP message, say): `error` has it, the connection goes on.
    pub const ERROR: u32 = 64;
    /// It was in TIME-WAIT and came to CLOSED, since the segment opens a new connection: the segment was not consumed, and
    /// is the listener's.
    pub const REOPEN: u32 = 128;
    /// The segment was dropped. Nothing says so to its sender, unless a challenge acknowledgment did.
    pub const DROPPED: u32 = 256;
}

/// A segment: received, or to be sent, or a piece of a queue. 128 bytes.
#[repr(C)]
pub struct Segment {
    /// In the queue that it is in.
    pub next: *mut Segment,
    /// In the queue that it is in.
    pub previous: *mut Segment,
    /// The buffer, owned.
    pub packet: Option<Packet>,
    /// The first byte of text, in the buffer.
    pub data: *const u8,
    /// A received segment's TCP header, in the buffer.
    pub header: *const u8,
    /// When it was received, or last sent, in microseconds.
    pub time: u64,
    /// Sequence number of its first octet (SYN included).
    pub seqno: u32,
    /// Bytes of text.
    pub length: u32,
    /// Acknowledgment number.
    pub ackno: u32,
    /// Window field, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128.
    pub flags: u8,
    /// The ECN field of the IP header.
    pub ecn: u8,
    /// Bytes of TCP header, with options.
    pub header_length: u8,
    /// The environment's: where the text stands. 0: in `packet`.
    pub buffer: u8,
    /// How many segments were merged into this; 1 for an ordinary one.
    pub merged: u16,
    /// What the TCP has marked; of what is given to be sent, [`RECORD_END`].
    pub marks: u16,
    /// Ones' complement sum of the text as it stands in memory, not folded; 0 if the layer below computes checksums.
    pub sum: u32,
    /// For the TCP, as what follows; named, so that it is emptied with the rest.
    pub private_word: u32,
    /// For the TCP.
    pub private: [u64; 6],
}

/// In [`Segment::marks`]: the text ends a record, so what is written next begins a segment of its own (MSG_EOR).
pub const RECORD_END: u16 = 64;

const _: () = assert!(size_of::<Segment>() == 128 && size_of::<Tcb>() == 128);

/// Parameters, as the sysctls of Linux. Times in microseconds. Mirrors `tcp/base/config.pc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// 0 Linux's way on the wire, 1 that of 4.4BSD.
    pub personality: u32,
    /// Offer and accept window scaling.
    pub window_scaling: u32,
    /// Offer and accept timestamps.
    pub timestamps: u32,
    /// Offer and accept selective acknowledgments.
    pub sack: u32,
    /// 0 never, 1 offer and accept, 2 accept only.
    pub ecn: u32,
    /// Bit 0 as client, bit 1 as server, bit 2 as client without a cookie, 0x200 as server without a cookie, 0x400 every listener.
    pub fast_open: u32,
    /// SYN cookies: 0 never, 1 when the queue is full, 2 always.
    pub syn_cookies: u32,
    /// Path-MTU discovery: bit 0 by ICMP, bit 1 by probes of RFC 8899 after a black hole, bit 2 always by probes.
    pub path_mtu: u32,
    /// Largest segment to offer; 0: what the MTU allows.
    pub mss: u32,
    /// Bytes that the link below carries, with the IP header.
    pub mtu: u32,
    /// Initial window in segments, RFC 6928.
    pub initial_window: u32,
    /// Retransmissions of a SYN.
    pub syn_retries: u32,
    /// Retransmissions of a SYN-ACK.
    pub synack_retries: u32,
    /// Retransmissions of anything else.
    pub retries: u32,
    /// Retransmissions of a connection that its user has left.
    pub orphan_retries: u32,
    /// Keep-alive probes.
    pub keepalive_probes: u32,
    /// Initial retransmission timeout.
    pub rto_initial: u32,
    /// Least retransmission timeout.
    pub rto_min: u32,
    /// Largest retransmission timeout.
    pub rto_max: u32,
    /// Least delay of an acknowledgment.
    pub delayed_ack_min: u32,
    /// Largest delay of an acknowledgment.
    pub delayed_ack_max: u32,
    /// How long TIME-WAIT lasts.
    pub time_wait: u32,
    /// How long FIN-WAIT-2 may last when the user has left.
    pub fin_timeout: u32,
    /// Idle time before the first keep-alive probe.
    pub keepalive_time: u32,
    /// Time between keep-alive probes. In milliseconds, as `keepalive_time`, since these are long.
    pub keepalive_interval: u32,
    /// Receive buffer to begin with, bytes.
    pub receive_buffer: u32,
    /// To which it may grow by itself.
    pub receive_buffer_max: u32,
    /// Challenge acknowledgments a second, RFC 5961 §7.
    pub challenge_acks: u32,
    /// 0 Reno (RFC 5681), 1 CUBIC, for connections whose program has both.
    pub congestion_control: u32,
    /// Free.
    pub reserved: [u32; 3],
}

/// Options of one connection, for [`Entries::set`].
pub mod option {
    #![allow(missing_docs)]
    pub const NO_DELAY: u32 = 1;
    pub const CORK: u32 = 2;
    pub const KEEP_ALIVE: u32 = 3;
    /// Milliseconds.
    pub const KEEP_IDLE: u32 = 4;
    /// Milliseconds.
    pub const KEEP_INTERVAL: u32 = 5;
    pub const KEEP_COUNT: u32 = 6;
    /// Milliseconds; 0: none.
    pub const USER_TIMEOUT: u32 = 7;
    pub const MAX_SEGMENT: u32 = 8;
    /// Bytes; ends growth by itself.
    pub const RECEIVE_BUFFER: u32 = 9;
    pub const QUICK_ACK: u32 = 10;
    pub const SYN_COUNT: u32 = 11;
    /// Milliseconds; as TCP_LINGER2.
    pub const FIN_TIMEOUT: u32 = 12;
    /// Bytes that SND.WND must not exceed; 0: none (TCP_WINDOW_CLAMP is for the receive window).
    pub const WINDOW_CLAMP: u32 = 13;
    pub const FAST_OPEN: u32 = 14;
    pub const OUT_OF_BAND_INLINE: u32 = 15;
    /// 0 Reno, 1 CUBIC.
    pub const CONGESTION_CONTROL: u32 = 16;
    /// IP_MTU_DISCOVER.
    pub const PATH_MTU: u32 = 17;
    /// Retransmissions of the SYN-ACK that a client's text may take (TCP_DEFER_ACCEPT).
    pub const DEFER_ACCEPT: u32 = 19;
    /// Bytes a second; 0: no limit (SO_MAX_PACING_RATE).
    pub const PACING_RATE: u32 = 20;
    /// TCP_FASTOPEN_NO_COOKIE.
    pub const FAST_OPEN_NO_COOKIE: u32 = 18;
}

/// A segment to send, as `struct tcp_transmit`.
#[repr(C)]
pub struct Transmit {
    /// See `environment.h`, as for all that follow.
    pub tcb: *mut Tcb,
    #[allow(missing_docs)]
    pub header: *const u8,
    #[allow(missing_docs)]
    pub header_length: u32,
    #[allow(missing_docs)]
    pub segment: *mut Segment,
    #[allow(missing_docs)]
    pub length: u32,
    #[allow(missing_docs)]
    pub segment_size: u32,
    #[allow(missing_docs)]
    pub ecn: u8,
    #[allow(missing_docs)]
    pub dont_fragment: u8,
}

/// What the TCP asks of its environment, as `struct tcp_environment`, with the functions' contracts there.
#[repr(C)]
#[allow(missing_docs)]
pub struct Environment {
    pub segment_new: unsafe extern "C" fn(stack: *mut c_void) -> *mut Segment,
    pub segment_free: unsafe extern "C" fn(stack: *mut c_void, segment: *mut Segment),
    pub segment_split:
        unsafe extern "C" fn(stack: *mut c_void, segment: *mut Segment, at: u32) -> *mut Segment,
    pub segment_fill: unsafe extern "C" fn(
        stack: *mut c_void,
        segment: *mut Segment,
        next: *mut Segment,
        amount: u32,
    ) -> u32,
    pub transmit: unsafe extern "C" fn(stack: *mut c_void, t: *const Transmit),
    pub spawn:
        unsafe extern "C" fn(stack: *mut c_void, listener: *mut Tcb, segment: *const Segment) -> *mut Tcb,
    pub hash: unsafe extern "C" fn(stack: *mut c_void, data: *const u8, length: usize) -> u64,
    pub cookie: unsafe extern "C" fn(stack: *mut c_void, tcb: *const Tcb, which: u32) -> u64,
    pub random: unsafe extern "C" fn(stack: *mut c_void) -> u32,
    pub shared: unsafe extern "C" fn(stack: *mut c_void) -> *mut c_void,
}

/// What users read about a connection, as `struct tcp_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Status {
    pub state: u8,
    pub congestion_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    pub send_scale: u8,
    pub receive_scale: u8,
    pub rto: u32,
    pub ato: u32,
    pub send_mss: u32,
    pub receive_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retransmitted: u32,
    pub last_data_sent: u32,
    pub last_ack_sent: u32,
    pub last_data_received: u32,
    pub last_ack_received: u32,
    pub path_mtu: u32,
    pub receive_threshold: u32,
    pub rtt: u32,
    pub rtt_variance: u32,
    pub send_threshold: u32,
    pub congestion_window: u32,
    pub advertised_mss: u32,
    pub reordering: u32,
    pub receive_rtt: u32,
    pub receive_space: u32,
    pub total_retransmissions: u32,
    pub unsent: u32,
    pub send_window: u32,
    pub receive_window: u32,
    pub min_rtt: u32,
    pub send_next: u32,
    pub send_unacked: u32,
    pub receive_next: u32,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub bytes_retransmitted: u64,
    pub segments_out: u32,
    pub segments_in: u32,
    pub data_segments_out: u32,
    pub data_segments_in: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub duplicate_sacks: u32,
    pub reordering_seen: u32,
    pub early_segments: u32,
    pub timeouts: u32,
    pub timeout_recoveries: u32,
    pub timeout_time: u32,
    pub busy_time: u64,
    pub window_limited_time: u64,
    pub pacing_rate: u64,
    pub delivery_rate: u64,
    pub fast_open_failure: u32,
    pub is_rate_limited_by_user: u32,
}

/// A compiled TCP: what `Tcp-Interface` (tcp/base/interface.pc) exports. Each dynamic function is entered with `now` in
/// microseconds, may call the [`Environment`] before it returns, and leaves [`Tcb::events`], `deadline` and `state` for
/// the caller to look at. Segments given to it are its own.
#[repr(C)]
#[allow(missing_docs)]
pub struct Entries {
    /// Must be called before anything else, once, with an environment that lives for ever.
    pub initialize: unsafe extern "C" fn(environment: *const Environment),
    /// Bytes of a TCB.
    pub tcb_size: unsafe extern "C" fn() -> u32,
    /// Bytes of what the connections of a stack have in common.
    pub shared_size: unsafe extern "C" fn() -> u32,
    /// Makes a TCB in CLOSED of zeroed memory in which `stack`, `config`, `user` and `offload_size` are set.
    pub construct: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// RFC 9293 §3.10.1, passive: to LISTEN. The local port is set.
    pub listen: unsafe extern "C" fn(tcb: *mut Tcb),
    /// RFC 9293 §3.10.1, active: sends the SYN. Both addresses are set. With `text` (or null) in the SYN if fast open allows.
    pub connect: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// RFC 9293 §3.10.2: appends text to what is to be sent, and sends what may be. With URG in the segment's flags its
    /// last byte is urgent; without PSH more follows soon, so nothing small goes yet.
    pub send: unsafe extern "C" fn(tcb: *mut Tcb, segment: *mut Segment, now: u64),
    /// The last segment that waits to be sent, or null. Its text may be made longer, before [`Entries::grown`] says so.
    pub unsent_tail: unsafe extern "C" fn(tcb: *mut Tcb) -> *mut Segment,
    /// The segment of `unsent_tail` has become `length` bytes longer; sends what may be sent.
    pub grown: unsafe extern "C" fn(tcb: *mut Tcb, length: u32, now: u64),
    /// Sends what may be: after an option was changed.
    pub output: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// The next segment with text in order, or null.
    pub receive: unsafe extern "C" fn(tcb: *mut Tcb) -> *mut Segment,
    /// RFC 9293 §3.10.3: `length` bytes were read, the window may be opened.
    pub received: unsafe extern "C" fn(tcb: *mut Tcb, length: u32, now: u64),
    /// RFC 9293 §3.10.4, half of it: no more text will be sent.
    pub shutdown: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// RFC 9293 §3.10.4: the user has left. Resets if there is unread text, else a FIN follows the text.
    pub close: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// RFC 9293 §3.10.5.
    pub abort: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// RFC 9293 §3.10.7, for a connection in any state but LISTEN.
    pub segment_arrives: unsafe extern "C" fn(tcb: *mut Tcb, segment: *mut Segment, now: u64),
    /// RFC 9293 §3.10.7.2, for a listener.
    pub listen_arrives: unsafe extern "C" fn(tcb: *mut Tcb, segment: *mut Segment, now: u64),
    /// RFC 9293 §3.10.7.1: there is no connection.
    pub refuse: unsafe extern "C" fn(stack: *mut c_void, segment: *mut Segment),
    /// RFC 9293 §3.10.8: [`Tcb::deadline`] has passed.
    pub timeout: unsafe extern "C" fn(tcb: *mut Tcb, now: u64),
    /// An ICMP message quotes `seqno`. `error` is the `errno` it means, EMSGSIZE with the next hop's `mtu`.
    pub unreachable: unsafe extern "C" fn(tcb: *mut Tcb, seqno: u32, error: i32, mtu: u32, now: u64),
    /// Sets one of [`option`].
    pub set: unsafe extern "C" fn(tcb: *mut Tcb, which: u32, value: u32, now: u64),
    /// Urgent: the last byte queued is urgent data's last (RFC 9293 §3.8.5).
    pub urgent: unsafe extern "C" fn(tcb: *mut Tcb),
    /// Of urgent data received: bytes of text in the queue of [`Entries::receive`] before the urgent octet; negative if it
    /// was taken from there, `i32::MIN` if there is none.
    pub urgent_mark: unsafe extern "C" fn(tcb: *mut Tcb) -> i32,
    /// RFC 9293 §3.10.6.
    pub status: unsafe extern "C" fn(tcb: *mut Tcb, status: *mut Status, now: u64),
    /// Gives back all segments. The memory is the environment's again.
    pub destroy: unsafe extern "C" fn(tcb: *mut Tcb),
}
