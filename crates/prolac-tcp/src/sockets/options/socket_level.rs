//! SOL_SOCKET, as `sk_setsockopt` and `sk_getsockopt` treat it.

use crate::abi::{option, state};

use super::{Value, int, within};
use crate::sockets::linux::*;
use crate::sockets::socket::Domain;
use crate::sockets::{Errno, Fd, Sockets};

/// `SOCK_MIN_SNDBUF`: the least that SO_SNDBUF gives.
const SEND_BUFFER_MIN: u32 = 4608;
/// `SOCK_MIN_RCVBUF`: the least that SO_RCVBUF gives.
const RECEIVE_BUFFER_MIN: u32 = 2304;

impl Sockets {
    pub(super) fn set_socket_option(&mut self, now: u64, fd: Fd, name: i32, raw: &[u8]) -> Result<(), Errno> {
        let value = int(raw)?;
        let limits = self.limits;
        let settings = &mut self.at_mut(fd)?.settings;
        match name {
            SO_REUSEADDR => settings.reuse_address = value != 0,
            SO_REUSEPORT => settings.reuse_port = value != 0,
            SO_KEEPALIVE => {
                settings.keep_alive = value != 0;
                self.apply(now, fd, option::KEEP_ALIVE, (value != 0).into())?;
            }
            SO_OOBINLINE => {
                settings.out_of_band_inline = value != 0;
                self.apply(now, fd, option::OUT_OF_BAND_INLINE, (value != 0).into())?;
            }
            SO_LINGER => settings.linger = linger(raw)?,
            SO_SNDBUF | SO_SNDBUFFORCE => {
                let most = if name == SO_SNDBUF { limits.send_buffer_max } else { i32::MAX as u32 / 2 };
                let bytes = doubled(value, most, SEND_BUFFER_MIN);
                settings.send_buffer = Some(bytes);
                self.apply_send_buffer(fd, bytes)?;
            }
            SO_RCVBUF | SO_RCVBUFFORCE => {
                let most = if name == SO_RCVBUF { limits.receive_buffer_max } else { i32::MAX as u32 / 2 };
                let bytes = doubled(value, most, RECEIVE_BUFFER_MIN);
                settings.receive_buffer = Some(bytes);
                self.apply(now, fd, option::RECEIVE_BUFFER, bytes)?;
            }
            SO_RCVLOWAT => self.set_receive_low_water(fd, value)?,
            SO_RCVTIMEO => settings.receive_timeout = timeout(raw)?,
            SO_SNDTIMEO => settings.send_timeout = timeout(raw)?,
            SO_BROADCAST | SO_DONTROUTE | SO_NO_CHECK | SO_TIMESTAMP => {
                self.store(fd, SOL_SOCKET, name, (value != 0).into())?;
            }
            SO_ZEROCOPY => {
                within(value, 0..=1)?;
                self.store(fd, SOL_SOCKET, name, value)?;
            }
            SO_BUSY_POLL => {
                within(value, 0..=i32::MAX)?;
                self.store(fd, SOL_SOCKET, name, value)?;
            }
            SO_MAX_PACING_RATE => self.set_pacing_rate(now, fd, raw)?,
            SO_PRIORITY | SO_MARK | SO_INCOMING_CPU => {
                self.store(fd, SOL_SOCKET, name, value)?;
            }
            _ => return Err(Errno::NOPROTOOPT),
        }
        Ok(())
    }

    pub(super) fn socket_option(&mut self, fd: Fd, name: i32) -> Result<Value, Errno> {
        if name == SO_ERROR {
            return Ok(self.take_any_error(fd).map_or(0, |error| error.0).into());
        }
        let limits = self.limits;
        let automatic = self.stack.config().receive_buffer;
        let socket = self.at(fd)?;
        let settings = &socket.settings;
        Ok(match name {
            SO_REUSEADDR => settings.reuse_address.into(),
            SO_REUSEPORT => settings.reuse_port.into(),
            SO_KEEPALIVE => settings.keep_alive.into(),
            SO_OOBINLINE => settings.out_of_band_inline.into(),
            SO_LINGER => linger_value(settings.linger),
            SO_SNDBUF => settings.send_buffer.unwrap_or(limits.send_buffer).into(),
            SO_RCVBUF => settings.receive_buffer.unwrap_or(automatic).into(),
            SO_RCVLOWAT => settings.receive_low_water.into(),
            SO_SNDLOWAT => 1.into(),
            SO_RCVTIMEO => timeout_value(settings.receive_timeout),
            SO_SNDTIMEO => timeout_value(settings.send_timeout),
            SO_TYPE => SOCK_STREAM.into(),
            SO_PROTOCOL => IPPROTO_TCP.into(),
            SO_DOMAIN => if socket.domain == Domain::V4 { AF_INET } else { AF_INET6 }.into(),
            SO_ACCEPTCONN => (socket.state(&self.stack) == state::LISTEN).into(),
            // As the kernel does: a long to who has room for one.
            SO_MAX_PACING_RATE => {
                let rate = settings.pacing_rate.unwrap_or(u64::MAX);
                Value::Bytes(rate.to_ne_bytes().to_vec())
            }
            SO_INCOMING_CPU => self.stored(fd, SOL_SOCKET, name, -1)?,
            SO_BROADCAST | SO_DONTROUTE | SO_NO_CHECK | SO_TIMESTAMP | SO_ZEROCOPY | SO_BUSY_POLL
            | SO_PRIORITY | SO_MARK => self.stored(fd, SOL_SOCKET, name, 0)?,
            _ => return Err(Errno::NOPROTOOPT),
        })
    }

    /// An `int`, or a `long` from who gives so many bytes; all ones: no limit.
    fn set_pacing_rate(&mut self, now: u64, fd: Fd, raw: &[u8]) -> Result<(), Errno> {
        let rate = match raw.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes)) {
            Some(rate) => rate,
            None => match int(raw)? as u32 {
                u32::MAX => u64::MAX,
                rate => rate.into(),
            },
        };
        self.at_mut(fd)?.settings.pacing_rate = (rate != u64::MAX).then_some(rate);
        // What is faster than the TCP counts needs no limit.
        self.apply(now, fd, option::PACING_RATE, u32::try_from(rate).unwrap_or(0))
    }

    fn apply_send_buffer(&mut self, fd: Fd, bytes: u32) -> Result<(), Errno> {
        match self.at(fd)?.connection() {
            Some(id) => self.stack.set_send_buffer(id, bytes).map_err(Errno::from),
            None => Ok(()),
        }
    }

    /// `tcp_set_rcvlowat`: never more than half of the buffer.
    fn set_receive_low_water(&mut self, fd: Fd, value: i32) -> Result<(), Errno> {
        let most = self.stack.config().receive_buffer_max;
        let settings = &mut self.at_mut(fd)?.settings;
        let half = settings.receive_buffer.unwrap_or(most) / 2;
        let wished = u32::try_from(value).unwrap_or(i32::MAX as u32);
        settings.receive_low_water = wished.min(half).max(1);
        Ok(())
    }
}

/// Linux doubles what is asked for, to have room for its own structures, and shows that.
fn doubled(value: i32, most: u32, least: u32) -> u32 {
    // As an unsigned number, a negative one asks for everything.
    ((value as u32).min(most) * 2).max(least)
}

/// `struct linger`: whether, and how many seconds.
fn linger(raw: &[u8]) -> Result<Option<u32>, Errno> {
    let seconds = int(raw.get(4..).ok_or(Errno::INVAL)?)?;
    Ok((int(raw)? != 0).then_some(seconds.max(0) as u32))
}

fn linger_value(linger: Option<u32>) -> Value {
    let (on, seconds) = linger.map_or((0, 0), |seconds| (1, seconds as i32));
    Value::Bytes([i32::to_ne_bytes(on), seconds.to_ne_bytes()].concat())
}

/// `struct timeval`, in microseconds; a negative time is over at once.
fn timeout(raw: &[u8]) -> Result<u64, Errno> {
    let long = |raw: &[u8]| raw.first_chunk().map(|bytes| i64::from_ne_bytes(*bytes)).ok_or(Errno::INVAL);
    let seconds = long(raw)?;
    let micros = long(raw.get(8..).ok_or(Errno::INVAL)?)?;
    if !(0..1_000_000).contains(&micros) {
        return Err(Errno::DOM);
    }
    match u64::try_from(seconds) {
        Ok(seconds) => Ok(seconds.saturating_mul(1_000_000).saturating_add(micros as u64)),
        Err(_) => Ok(1),
    }
}

fn timeout_value(micros: u64) -> Value {
    let parts = [(micros / 1_000_000) as i64, (micros % 1_000_000) as i64];
    Value::Bytes(parts.map(i64::to_ne_bytes).concat())
}
