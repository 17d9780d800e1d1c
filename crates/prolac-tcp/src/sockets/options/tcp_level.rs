//! IPPROTO_TCP, as `do_tcp_setsockopt` and `do_tcp_getsockopt` treat it.

use crate::abi::{option, state};

use super::{Value, info, int, within};
use crate::sockets::linux::*;
use crate::sockets::settings::Congestion;
use crate::sockets::socket::Stage;
use crate::sockets::{Errno, Fd, Sockets};
use crate::stack::FastOpenKeys;

/// `MAX_TCP_KEEPIDLE` and `MAX_TCP_KEEPINTVL`, seconds.
const KEEP_TIME_MAX: i32 = 32_767;
/// `MAX_TCP_KEEPCNT` and `MAX_TCP_SYNCNT`.
const COUNT_MAX: i32 = 127;
/// `TCP_MIN_MSS`.
const MSS_MIN: i32 = 88;
/// `TCP_MSS_DEFAULT`: the MSS of a socket that has not met its peer.
const MSS_DEFAULT: u32 = 536;
/// `MAX_TCP_WINDOW`.
const WINDOW_MAX: i32 = 32_767;
/// Half of `SOCK_MIN_RCVBUF`: the least TCP_WINDOW_CLAMP.
const WINDOW_CLAMP_MIN: u32 = 1152;
/// `TCP_FIN_TIMEOUT_MAX`, seconds.
const FIN_TIMEOUT_MAX: i32 = 120;
/// `TCP_CA_NAME_MAX`.
const CONGESTION_NAME: usize = 16;

impl Sockets {
    pub(super) fn set_tcp_option(&mut self, now: u64, fd: Fd, name: i32, raw: &[u8]) -> Result<(), Errno> {
        match name {
            TCP_CONGESTION => return self.set_congestion(now, fd, raw),
            TCP_FASTOPEN_KEY => return self.set_fast_open_keys(fd, raw),
            _ => {}
        }
        let value = int(raw)?;
        let flag = u32::from(value != 0);
        let resting = matches!(self.at(fd)?.state(&self.stack), state::CLOSED | state::LISTEN);
        let settings = &mut self.at_mut(fd)?.settings;
        let (which, number) = match name {
            TCP_NODELAY => {
                settings.no_delay = value != 0;
                (option::NO_DELAY, flag)
            }
            TCP_CORK => {
                settings.cork = value != 0;
                (option::CORK, flag)
            }
            TCP_QUICKACK => {
                settings.quick_ack = Some(value != 0);
                (option::QUICK_ACK, flag)
            }
            TCP_MAXSEG => {
                let bytes = if value == 0 { 0 } else { within(value, MSS_MIN..=WINDOW_MAX)? };
                settings.max_segment = bytes;
                // For the SYN: what the ends have agreed on stays.
                if !resting {
                    return Ok(());
                }
                (option::MAX_SEGMENT, bytes)
            }
            TCP_KEEPIDLE => {
                let seconds = within(value, 1..=KEEP_TIME_MAX)?;
                settings.keep_idle = Some(seconds);
                (option::KEEP_IDLE, seconds * 1000)
            }
            TCP_KEEPINTVL => {
                let seconds = within(value, 1..=KEEP_TIME_MAX)?;
                settings.keep_interval = Some(seconds);
                (option::KEEP_INTERVAL, seconds * 1000)
            }
            TCP_KEEPCNT => {
                let count = within(value, 1..=COUNT_MAX)?;
                settings.keep_count = Some(count);
                (option::KEEP_COUNT, count)
            }
            TCP_SYNCNT => {
                let count = within(value, 1..=COUNT_MAX)?;
                settings.syn_count = Some(count);
                (option::SYN_COUNT, count)
            }
            TCP_USER_TIMEOUT => {
                let milliseconds = within(value, 0..=i32::MAX)?;
                settings.user_timeout = milliseconds;
                (option::USER_TIMEOUT, milliseconds)
            }
            _ => return self.set_rarer_tcp_option(now, fd, name, value),
        };
        self.apply(now, fd, which, number)
    }

    fn set_rarer_tcp_option(&mut self, now: u64, fd: Fd, name: i32, value: i32) -> Result<(), Errno> {
        let state = self.at(fd)?.state(&self.stack);
        let resting = matches!(state, state::CLOSED | state::LISTEN);
        let as_client = self.stack.config().fast_open & 1 != 0;
        let longest = self.limits.backlog;
        let settings = &mut self.at_mut(fd)?.settings;
        match name {
            TCP_LINGER2 => {
                settings.linger2 = value.clamp(-1, FIN_TIMEOUT_MAX);
                let milliseconds = self.fin_timeout(fd)?;
                self.apply(now, fd, option::FIN_TIMEOUT, milliseconds.unwrap_or(u32::MAX))?;
            }
            TCP_DEFER_ACCEPT => {
                let rounds = seconds_to_retransmissions(value);
                settings.defer_accept = rounds;
                self.apply(now, fd, option::DEFER_ACCEPT, rounds.into())?;
            }
            TCP_WINDOW_CLAMP => {
                if value == 0 && state != state::CLOSED {
                    return Err(Errno::INVAL);
                }
                let bytes = if value == 0 { 0 } else { (value.max(0) as u32).max(WINDOW_CLAMP_MIN) };
                settings.window_clamp = bytes;
                self.apply(now, fd, option::WINDOW_CLAMP, bytes)?;
            }
            TCP_FASTOPEN if resting => {
                settings.fast_open = within(value, 0..=i32::MAX)?.min(longest);
                self.apply(now, fd, option::FAST_OPEN, u32::from(value != 0))?;
            }
            TCP_FASTOPEN => return Err(Errno::INVAL),
            TCP_FASTOPEN_CONNECT => {
                let on = within(value, 0..=1)? != 0;
                if !as_client {
                    return Err(Errno::OPNOTSUPP);
                }
                if state != state::CLOSED {
                    return Err(Errno::INVAL);
                }
                settings.fast_open_connect = on;
            }
            TCP_FASTOPEN_NO_COOKIE => {
                let flag = within(value, 0..=1)?;
                if !resting {
                    return Err(Errno::INVAL);
                }
                settings.fast_open_no_cookie = flag != 0;
                self.apply(now, fd, option::FAST_OPEN_NO_COOKIE, flag)?;
            }
            TCP_NOTSENT_LOWAT => settings.not_sent_low_water = value as u32,
            TCP_INQ => settings.inquire = within(value, 0..=1)? != 0,
            TCP_THIN_LINEAR_TIMEOUTS => {
                within(value, 0..=1)?;
                self.store(fd, IPPROTO_TCP, name, value)?;
            }
            // Linux does nothing with it any more.
            TCP_THIN_DUPACK => {
                within(value, 0..=1)?;
            }
            TCP_SAVE_SYN => {
                within(value, 0..=2)?;
                self.store(fd, IPPROTO_TCP, name, value)?;
            }
            TCP_REPAIR => return Err(Errno::PERM),
            _ => return Err(Errno::NOPROTOOPT),
        }
        Ok(())
    }

    fn set_fast_open_keys(&mut self, fd: Fd, raw: &[u8]) -> Result<(), Errno> {
        let keys = FastOpenKeys::from_bytes(raw).ok_or(Errno::INVAL)?;
        self.at_mut(fd)?.settings.fast_open_keys = Some(keys);
        match self.at(fd)?.stage {
            Stage::Listening(listener) => Ok(self.stack.set_listener_fast_open_keys(listener, keys)?),
            _ => Ok(()),
        }
    }

    fn set_congestion(&mut self, now: u64, fd: Fd, raw: &[u8]) -> Result<(), Errno> {
        if raw.is_empty() {
            return Err(Errno::INVAL);
        }
        let name = &raw[..raw.len().min(CONGESTION_NAME - 1)];
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let chosen = Congestion::named(name).ok_or(Errno::NOENT)?;
        self.at_mut(fd)?.settings.congestion = Some(chosen);
        self.apply(now, fd, option::CONGESTION_CONTROL, chosen as u32)
    }

    pub(super) fn tcp_option(&mut self, now: u64, fd: Fd, name: i32) -> Result<Value, Errno> {
        let config = *self.stack.config();
        let settings = &self.at(fd)?.settings;
        Ok(match name {
            TCP_NODELAY => settings.no_delay.into(),
            TCP_CORK => settings.cork.into(),
            TCP_MAXSEG => self.current_mss(now, fd)?.into(),
            TCP_KEEPIDLE => settings.keep_idle.unwrap_or(config.keepalive_time / 1000).into(),
            TCP_KEEPINTVL => settings.keep_interval.unwrap_or(config.keepalive_interval / 1000).into(),
            TCP_KEEPCNT => settings.keep_count.unwrap_or(config.keepalive_probes).into(),
            TCP_SYNCNT => settings.syn_count.unwrap_or(config.syn_retries).into(),
            TCP_LINGER2 => match settings.linger2 {
                0 => (config.fin_timeout / 1_000_000).into(),
                seconds => seconds.into(),
            },
            TCP_DEFER_ACCEPT => retransmissions_to_seconds(settings.defer_accept).into(),
            TCP_WINDOW_CLAMP => settings.window_clamp.into(),
            TCP_QUICKACK => settings.quick_ack.unwrap_or(true).into(),
            TCP_USER_TIMEOUT => settings.user_timeout.into(),
            TCP_FASTOPEN => settings.fast_open.into(),
            TCP_FASTOPEN_CONNECT => settings.fast_open_connect.into(),
            TCP_FASTOPEN_NO_COOKIE => settings.fast_open_no_cookie.into(),
            TCP_FASTOPEN_KEY => {
                Value::Bytes(settings.fast_open_keys.unwrap_or(self.stack.fast_open_keys()).to_bytes())
            }
            TCP_NOTSENT_LOWAT => settings.not_sent_low_water.into(),
            TCP_INQ => settings.inquire.into(),
            TCP_CONGESTION => {
                let chosen = settings.congestion.unwrap_or(Congestion::of_config(config.congestion_control));
                let mut name = chosen.name().as_bytes().to_vec();
                name.resize(CONGESTION_NAME, 0);
                Value::Bytes(name)
            }
            TCP_INFO => Value::Bytes(self.info(now, fd)?),
            TCP_THIN_LINEAR_TIMEOUTS | TCP_THIN_DUPACK | TCP_SAVE_SYN => {
                self.stored(fd, IPPROTO_TCP, name, 0)?
            }
            TCP_REPAIR => 0.into(),
            _ => return Err(Errno::NOPROTOOPT),
        })
    }

    fn current_mss(&mut self, now: u64, fd: Fd) -> Result<u32, Errno> {
        let socket = self.at(fd)?;
        let wished = socket.settings.max_segment;
        let resting = matches!(socket.state(&self.stack), state::CLOSED | state::LISTEN);
        match socket.connection() {
            _ if resting && wished != 0 => Ok(wished),
            Some(id) => Ok(self.stack.status(now, id)?.send_mss),
            None => Ok(MSS_DEFAULT),
        }
    }

    fn info(&mut self, now: u64, fd: Fd) -> Result<Vec<u8>, Errno> {
        let socket = self.at(fd)?;
        let state = socket.state(&self.stack);
        match socket.connection() {
            Some(id) => {
                let status = self.stack.status(now, id)?;
                Ok(info::of_connection(state, &status))
            }
            None => Ok(info::of_resting(state, self.stack.config())),
        }
    }
}

/// Time after which a SYN-ACK that was retransmitted so often is given up: 1 s, doubled each time to 120 s at most.
fn retransmissions_to_seconds(count: u8) -> u32 {
    (0..count).fold((0, 1), |(sum, step): (u32, u32), _| (sum + step, (step * 2).min(120))).0
}

/// The least number of retransmissions that lasts so long.
fn seconds_to_retransmissions(seconds: i32) -> u8 {
    if seconds <= 0 {
        return 0;
    }
    (1..u8::MAX).find(|&count| retransmissions_to_seconds(count) >= seconds as u32).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deferred_accept_is_kept_in_retransmissions() {
        let shown: Vec<u32> = [0, 1, 2, 3, 4, 7, 8, 63, 64]
            .map(|s| retransmissions_to_seconds(seconds_to_retransmissions(s)))
            .into();
        assert_eq!(shown, [0, 1, 3, 3, 7, 7, 15, 63, 127]);
    }
}
