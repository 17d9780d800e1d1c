//! A script as a list of events: the part of packetdrill's language that our scripts use.
//!
//! ```text
//! TIME  < FLAGS SEQ:SEQ(LENGTH) [ack N] [win N] [urg N] [<OPTIONS>]      a packet to the stack
//! TIME  > FLAGS SEQ:SEQ(LENGTH) [ack N] [win N] [urg N] [<OPTIONS>]      a packet that the stack has to send
//! TIME  < [SEQ:SEQ(LENGTH)] icmp unreachable CODE [mtu N]                  an ICMP message about a segment
//! TIME  call(ARGUMENTS) = RESULT [ERRNO (text)]                          a system call
//! TIME  `sysctl -q net.ipv4.NAME=VALUE`                                  a parameter
//! ```
//!
//! TIME is seconds from the start, `+` from the last event, `*` for whenever, `A~B` for a range, `A...B` for a call that
//! blocks until B. `[ect0]` or `[ce]` or `[noecn]` after `<` or `>` is the ECN field. Ours alone: `@N` there is the N-th
//! connection of a script with several. What is not in the script of a packet out: without `win` it is not looked at;
//! `<...>` allows any options.

use std::fmt;

/// A whole script.
#[derive(Debug, Default)]
pub struct Script {
    pub events: Vec<Event>,
    /// From a line `// Deviates: ...`: why it is known to fail.
    pub deviates: Option<String>,
    /// From a line `// Only: ipv4 ipv6 mapped`.
    pub only: Option<Vec<String>>,
    /// From a line `// Flags: ...`, for `so_flags`.
    pub flags: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Event {
    pub line: usize,
    pub time: Time,
    pub action: Action,
}

/// When; microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    pub relative: bool,
    pub any: bool,
    pub from: i64,
    pub to: i64,
    /// The end of a blocking call, counted as `from` is.
    pub until: Option<i64>,
}

#[derive(Debug, Clone)]
pub enum Action {
    In(PacketSpec),
    Out(PacketSpec),
    Call(CallSpec),
    Sysctl(String, String),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PacketSpec {
    pub connection: usize,
    /// FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128.
    pub flags: u8,
    pub seq: u32,
    pub length: u32,
    pub ack: u32,
    pub window: Option<u16>,
    pub urgent: u16,
    /// `None`: any.
    pub options: Option<Vec<TcpOption>>,
    /// `None`: not looked at, and 0 in packets to the stack.
    pub ecn: Option<u8>,
    pub icmp: Option<Icmp>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TcpOption {
    Nop,
    End,
    Mss(u16),
    WindowScale(u8),
    SackOk,
    Sack(Vec<(u32, u32)>),
    Timestamp { value: u32, echo: u32 },
    FastOpen(Vec<u8>),
    Other(u8, Vec<u8>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Icmp {
    pub code: String,
    pub mtu: u16,
}

#[derive(Debug, Clone)]
pub struct CallSpec {
    pub name: String,
    pub arguments: Vec<Argument>,
    pub result: i64,
    pub errno: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    Dots,
    Number(i64),
    Text(String),
    List(Vec<Argument>),
    /// `{name=value, ...}`, or without names.
    Struct(Vec<(String, Argument)>),
}

pub const FLAGS: [(char, u8); 8] =
    [('F', 1), ('S', 2), ('R', 4), ('P', 8), ('.', 16), ('U', 32), ('E', 64), ('W', 128)];

impl fmt::Display for PacketSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(ecn) = self.ecn {
            write!(f, "[{}] ", ["noecn", "ect1", "ect0", "ce"][usize::from(ecn & 3)])?;
        }
        for (letter, bit) in FLAGS {
            if self.flags & bit != 0 {
                write!(f, "{letter}")?;
            }
        }
        write!(f, " {}:{}({})", self.seq, self.seq.wrapping_add(self.length), self.length)?;
        if self.flags & 16 != 0 {
            write!(f, " ack {}", self.ack)?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if self.flags & 32 != 0 {
            write!(f, " urg {}", self.urgent)?;
        }
        match &self.options {
            None => write!(f, " <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let texts: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", texts.join(","))
            }
        }
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        match self {
            TcpOption::Nop => write!(f, "nop"),
            TcpOption::End => write!(f, "eol"),
            TcpOption::Mss(mss) => write!(f, "mss {mss}"),
            TcpOption::WindowScale(scale) => write!(f, "wscale {scale}"),
            TcpOption::SackOk => write!(f, "sackOK"),
            TcpOption::Sack(blocks) => {
                write!(f, "sack")?;
                blocks.iter().try_for_each(|(left, right)| write!(f, " {left}:{right}"))
            }
            TcpOption::Timestamp { value, echo } => write!(f, "TS val {value} ecr {echo}"),
            TcpOption::FastOpen(cookie) if cookie.is_empty() => write!(f, "FO"),
            TcpOption::FastOpen(cookie) => write!(f, "FO {}", hex(cookie)),
            TcpOption::Other(kind, data) => write!(f, "kind {kind} {}", hex(data)),
        }
    }
}
