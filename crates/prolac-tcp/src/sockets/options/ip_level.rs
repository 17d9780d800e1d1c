//! IPPROTO_IP and IPPROTO_IPV6: what a TCP socket has of them.

use crate::abi::option;

use super::{Value, int, within};
use crate::sockets::linux::*;
use crate::sockets::socket::{Domain, Stage};
use crate::sockets::{Errno, Fd, Sockets};

/// The ECN field, which is TCP's own, in the type of service.
const ECN_MASK: u8 = 3;
/// `IP_PMTUDISC_OMIT`, the largest of the ways to discover the path MTU.
const PATH_MTU_MAX: i32 = 5;

impl Sockets {
    pub(super) fn set_ip_option(&mut self, now: u64, fd: Fd, name: i32, raw: &[u8]) -> Result<(), Errno> {
        // Linux takes a byte for any of them, and nothing at all as 0.
        let value = match raw {
            [] if matches!(name, IP_FREEBIND | IP_TRANSPARENT) => return Err(Errno::INVAL),
            [] => 0,
            [byte, ..] if raw.len() < 4 => i32::from(*byte),
            _ => int(raw)?,
        };
        let settings = &mut self.at_mut(fd)?.settings;
        match name {
            IP_TOS => {
                settings.type_of_service = value as u8 & !ECN_MASK;
                self.apply_class(fd)
            }
            IP_TTL => {
                let limit = if value == -1 { 64 } else { within(value, 1..=255)? as i32 };
                self.store(fd, IPPROTO_IP, name, limit)?;
                self.apply_class(fd)
            }
            IP_MTU_DISCOVER => {
                settings.path_mtu = within(value, 0..=PATH_MTU_MAX)? as u8;
                self.apply(now, fd, option::PATH_MTU, value as u32)
            }
            IP_FREEBIND | IP_TRANSPARENT => {
                settings.free_bind = value != 0;
                self.store(fd, IPPROTO_IP, name, (value != 0).into())
            }
            IP_RECVERR | IP_BIND_ADDRESS_NO_PORT => self.store(fd, IPPROTO_IP, name, (value != 0).into()),
            _ => Err(Errno::NOPROTOOPT),
        }
    }

    pub(super) fn ip_option(&mut self, now: u64, fd: Fd, name: i32) -> Result<Value, Errno> {
        let settings = &self.at(fd)?.settings;
        Ok(match name {
            IP_TOS => i32::from(settings.type_of_service).into(),
            IP_TTL => self.stored(fd, IPPROTO_IP, name, 64)?,
            IP_MTU_DISCOVER => i32::from(settings.path_mtu).into(),
            IP_MTU => self.path_mtu(now, fd)?.into(),
            IP_FREEBIND | IP_TRANSPARENT | IP_RECVERR | IP_BIND_ADDRESS_NO_PORT => {
                self.stored(fd, IPPROTO_IP, name, 0)?
            }
            _ => return Err(Errno::NOPROTOOPT),
        })
    }

    pub(super) fn set_ipv6_option(&mut self, now: u64, fd: Fd, name: i32, raw: &[u8]) -> Result<(), Errno> {
        if self.at(fd)?.domain == Domain::V4 {
            return Err(Errno::NOPROTOOPT);
        }
        let value = int(raw)?;
        let fresh = !self.at(fd)?.holds_port;
        let settings = &mut self.at_mut(fd)?.settings;
        match name {
            IPV6_V6ONLY if !fresh => Err(Errno::INVAL),
            IPV6_V6ONLY => {
                settings.v6_only = value != 0;
                Ok(())
            }
            IPV6_TCLASS => {
                let class = if value == -1 { 0 } else { within(value, 0..=255)? };
                settings.traffic_class = class as u8 & !ECN_MASK;
                self.apply_class(fd)
            }
            IPV6_UNICAST_HOPS => {
                within(value, -1..=255)?;
                self.store(fd, IPPROTO_IPV6, name, if value == -1 { 64 } else { value })?;
                self.apply_class(fd)
            }
            IPV6_MTU_DISCOVER => {
                settings.path_mtu_v6 = within(value, 0..=PATH_MTU_MAX)? as u8;
                self.apply(now, fd, option::PATH_MTU, value as u32)
            }
            IPV6_RECVERR => self.store(fd, IPPROTO_IPV6, name, (value != 0).into()),
            _ => Err(Errno::NOPROTOOPT),
        }
    }

    pub(super) fn ipv6_option(&mut self, now: u64, fd: Fd, name: i32) -> Result<Value, Errno> {
        let socket = self.at(fd)?;
        if socket.domain == Domain::V4 {
            return Err(Errno::OPNOTSUPP);
        }
        Ok(match name {
            IPV6_V6ONLY => socket.settings.v6_only.into(),
            IPV6_TCLASS => i32::from(socket.settings.traffic_class).into(),
            IPV6_UNICAST_HOPS => self.stored(fd, IPPROTO_IPV6, name, 64)?,
            IPV6_MTU_DISCOVER => i32::from(socket.settings.path_mtu_v6).into(),
            IPV6_MTU => self.path_mtu(now, fd)?.into(),
            IPV6_RECVERR => self.stored(fd, IPPROTO_IPV6, name, 0)?,
            _ => return Err(Errno::NOPROTOOPT),
        })
    }

    /// What stands in IP headers: the traffic class and the time to live.
    fn apply_class(&mut self, fd: Fd) -> Result<(), Errno> {
        let socket = self.at(fd)?;
        let of = |v4| (socket.settings.class(v4), socket.settings.hop_limit(v4));
        match socket.stage {
            Stage::Connecting(id) | Stage::Connected(id) => {
                let (class, limit) = of(self.stack.peer_addr(id)?.is_ipv4());
                self.stack.set_traffic_class(id, class)?;
                Ok(self.stack.set_hop_limit(id, limit)?)
            }
            Stage::Listening(id) => {
                let (class, limit) = of(socket.domain == Domain::V4);
                self.stack.set_listener_traffic_class(id, class)?;
                Ok(self.stack.set_listener_hop_limit(id, limit)?)
            }
            Stage::Idle => Ok(()),
        }
    }

    /// The path MTU of a connection; others know of no path.
    fn path_mtu(&self, now: u64, fd: Fd) -> Result<u32, Errno> {
        let id = self.at(fd)?.connection().ok_or(Errno::NOTCONN)?;
        Ok(self.stack.status(now, id)?.path_mtu)
    }
}
