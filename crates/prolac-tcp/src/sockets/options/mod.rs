//! `getsockopt(2)` and `setsockopt(2)`.
//!
//! One file a level: `socket_level.rs` (SOL_SOCKET), `tcp_level.rs` (IPPROTO_TCP), `ip_level.rs` (IPPROTO_IP and
//! IPPROTO_IPV6); `info.rs` is TCP_INFO. Each reads and writes [`Settings`](super::settings::Settings) and, where a
//! connection is concerned, tells the stack.

pub(super) mod info;
mod ip_level;
mod socket_level;
mod tcp_level;

use crate::stack::Options;

use super::linux::*;
use super::socket::Stage;
use super::{Errno, Fd, Sockets};

/// What `getsockopt` copies to the user.
enum Value {
    Int(i32),
    Bytes(Vec<u8>),
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Int(value.into())
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Int(value as i32)
    }
}

impl Sockets {
    /// `setsockopt(2)`.
    pub fn set_option(&mut self, now: u64, fd: Fd, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
        self.at(fd)?;
        match level {
            SOL_SOCKET => self.set_socket_option(now, fd, name, value),
            IPPROTO_TCP => self.set_tcp_option(now, fd, name, value),
            IPPROTO_IP => self.set_ip_option(now, fd, name, value),
            IPPROTO_IPV6 => self.set_ipv6_option(now, fd, name, value),
            _ => Err(Errno::NOPROTOOPT),
        }
    }

    /// `getsockopt(2)`. As much of the value as `buffer` has room for; how much that was.
    pub fn get_option(
        &mut self,
        now: u64,
        fd: Fd,
        level: i32,
        name: i32,
        buffer: &mut [u8],
    ) -> Result<usize, Errno> {
        self.at(fd)?;
        let value = match level {
            SOL_SOCKET => self.socket_option(fd, name),
            IPPROTO_TCP => self.tcp_option(now, fd, name),
            IPPROTO_IP => self.ip_option(now, fd, name),
            IPPROTO_IPV6 => self.ipv6_option(now, fd, name),
            _ => Err(Errno::OPNOTSUPP),
        }?;
        let bytes = match value {
            // `do_ip_getsockopt` gives small values as a byte to those who have room for no more.
            Value::Int(int @ 0..=255) if level == IPPROTO_IP && (1..4).contains(&buffer.len()) => {
                vec![int as u8]
            }
            Value::Int(int) => int.to_ne_bytes().to_vec(),
            Value::Bytes(bytes) => bytes,
        };
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }

    /// Tells the stack that an option has changed: the connection, or the listener for those to come.
    fn apply(&mut self, now: u64, fd: Fd, which: u32, value: u32) -> Result<(), Errno> {
        match self.at(fd)?.stage {
            Stage::Connecting(id) | Stage::Connected(id) => {
                self.stack.set_option(now, id, which, value).map_err(Errno::from)
            }
            Stage::Listening(listener) => {
                self.stack.set_listener_option(now, listener, which, value).map_err(Errno::from)
            }
            Stage::Idle => Ok(()),
        }
    }

    /// The options of a socket as the stack takes them, for a listener or for a connection over IPv4 or IPv6.
    pub(super) fn stack_options(&self, fd: Fd, v4: bool) -> Result<Options, Errno> {
        let s = &self.at(fd)?.settings;
        let some = |value: u32| (value != 0).then_some(value);
        let milliseconds = |seconds: Option<u32>| seconds.map(|seconds| seconds * 1000);
        Ok(Options {
            send_buffer: s.send_buffer.unwrap_or(0),
            receive_buffer: s.receive_buffer,
            no_delay: s.no_delay,
            cork: s.cork,
            keep_alive: s.keep_alive,
            keep_idle: milliseconds(s.keep_idle),
            keep_interval: milliseconds(s.keep_interval),
            keep_count: s.keep_count,
            user_timeout: some(s.user_timeout),
            mss: some(s.max_segment),
            quick_ack: s.quick_ack,
            syn_count: s.syn_count,
            fin_timeout: self.fin_timeout(fd)?,
            window_clamp: some(s.window_clamp),
            defer_accept: some(s.defer_accept.into()),
            pacing_rate: s.pacing_rate.and_then(|rate| u32::try_from(rate).ok()),
            fast_open: s.fast_open > 0,
            fast_open_no_cookie: s.fast_open_no_cookie,
            fast_open_keys: s.fast_open_keys,
            out_of_band_inline: s.out_of_band_inline,
            congestion_control: s.congestion.map(|c| c as u32),
            path_mtu: Some(u32::from(if v4 { s.path_mtu } else { s.path_mtu_v6 })),
            reuse_address: s.reuse_address || s.reuse_port,
            traffic_class: s.class(v4),
            hop_limit: Some(s.hop_limit(v4)),
            v6only: s.v6_only,
        })
    }

    /// TCP_LINGER2 in milliseconds, if it is not the stack's own.
    fn fin_timeout(&self, fd: Fd) -> Result<Option<u32>, Errno> {
        Ok(match self.at(fd)?.settings.linger2 {
            0 => None,
            seconds => Some(u32::try_from(seconds).unwrap_or(0) * 1000),
        })
    }

    /// An option that is kept and changes nothing.
    fn store(&mut self, fd: Fd, level: i32, name: i32, value: i32) -> Result<(), Errno> {
        self.at_mut(fd)?.settings.stored.insert((level, name), value);
        Ok(())
    }

    fn stored(&self, fd: Fd, level: i32, name: i32, otherwise: i32) -> Result<Value, Errno> {
        let settings = &self.at(fd)?.settings;
        Ok(Value::Int(settings.stored.get(&(level, name)).copied().unwrap_or(otherwise)))
    }
}

/// The `int` that an option's value begins with.
fn int(value: &[u8]) -> Result<i32, Errno> {
    let bytes = value.first_chunk().ok_or(Errno::INVAL)?;
    Ok(i32::from_ne_bytes(*bytes))
}

/// A value that has to lie in a range.
fn within(value: i32, range: std::ops::RangeInclusive<i32>) -> Result<u32, Errno> {
    if range.contains(&value) { Ok(value as u32) } else { Err(Errno::INVAL) }
}
