//! What options of a socket are set to. [`options`](super::options) reads and writes it; here is what the values start as,
//! and how they reach the stack.
//!
//! Values are kept as the user sees them through `getsockopt` (buffers doubled, times in the option's own unit).

use std::collections::BTreeMap;

use crate::stack::FastOpenKeys;

use super::linux::{IP_TTL, IPPROTO_IP, IPPROTO_IPV6, IPV6_UNICAST_HOPS};

/// All options of one socket.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub reuse_address: bool,
    pub reuse_port: bool,
    pub keep_alive: bool,
    pub out_of_band_inline: bool,
    /// Seconds that `close` may wait; `None`: it does not.
    pub linger: Option<u32>,
    /// As `getsockopt` shows it, twice of what the user has asked for; `None`: the stack's own choice.
    pub send_buffer: Option<u32>,
    /// See `send_buffer`.
    pub receive_buffer: Option<u32>,
    pub receive_low_water: u32,
    /// Microseconds; 0: for ever.
    pub receive_timeout: u64,
    /// Microseconds; 0: for ever.
    pub send_timeout: u64,

    pub no_delay: bool,
    pub cork: bool,
    /// 0: not set.
    pub max_segment: u32,
    /// Seconds; `None`: the stack's.
    pub keep_idle: Option<u32>,
    /// Seconds; `None`: the stack's.
    pub keep_interval: Option<u32>,
    pub keep_count: Option<u32>,
    pub syn_count: Option<u32>,
    /// Seconds that an abandoned connection may stay in FIN-WAIT-2: 0 the stack's choice, -1 none at all.
    pub linger2: i32,
    /// In retransmissions of the SYN-ACK, as Linux keeps it.
    pub defer_accept: u8,
    pub window_clamp: u32,
    pub quick_ack: Option<bool>,
    /// `None`: the stack's.
    pub congestion: Option<Congestion>,
    /// Milliseconds; 0: none.
    pub user_timeout: u32,
    /// Half-open connections with data that a listener allows; 0: fast open is off.
    pub fast_open: u32,
    pub fast_open_connect: bool,
    pub fast_open_no_cookie: bool,
    /// Bytes a second; `None`: no limit.
    pub pacing_rate: Option<u64>,
    /// `None`: the stack's.
    pub fast_open_keys: Option<FastOpenKeys>,
    pub not_sent_low_water: u32,
    pub inquire: bool,

    pub type_of_service: u8,
    pub traffic_class: u8,
    pub path_mtu: u8,
    pub path_mtu_v6: u8,
    pub v6_only: bool,
    pub free_bind: bool,

    /// Options that are accepted and shown again and change nothing here, by level and name.
    pub stored: BTreeMap<(i32, i32), i32>,
}

impl Settings {
    /// The traffic class of what goes over IPv4, or over IPv6.
    pub fn class(&self, v4: bool) -> u8 {
        if v4 { self.type_of_service } else { self.traffic_class }
    }

    /// The time to live of what goes over IPv4, or the hop limit over IPv6.
    pub fn hop_limit(&self, v4: bool) -> u8 {
        let place = if v4 { (IPPROTO_IP, IP_TTL) } else { (IPPROTO_IPV6, IPV6_UNICAST_HOPS) };
        self.stored.get(&place).map_or(64, |&limit| limit as u8)
    }
}

/// Congestion control by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Congestion {
    Reno,
    Cubic,
}

impl Congestion {
    pub fn name(self) -> &'static str {
        match self {
            Congestion::Reno => "reno",
            Congestion::Cubic => "cubic",
        }
    }

    pub fn named(name: &[u8]) -> Option<Congestion> {
        [Congestion::Reno, Congestion::Cubic].into_iter().find(|c| c.name().as_bytes() == name)
    }

    pub fn of_config(number: u32) -> Congestion {
        if number == 0 { Congestion::Reno } else { Congestion::Cubic }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            reuse_address: false,
            reuse_port: false,
            keep_alive: false,
            out_of_band_inline: false,
            linger: None,
            send_buffer: None,
            receive_buffer: None,
            receive_low_water: 1,
            receive_timeout: 0,
            send_timeout: 0,
            no_delay: false,
            cork: false,
            max_segment: 0,
            keep_idle: None,
            keep_interval: None,
            keep_count: None,
            syn_count: None,
            linger2: 0,
            defer_accept: 0,
            window_clamp: 0,
            quick_ack: None,
            congestion: None,
            user_timeout: 0,
            fast_open: 0,
            fast_open_connect: false,
            not_sent_low_water: 0,
            inquire: false,
            fast_open_no_cookie: false,
            fast_open_keys: None,
            pacing_rate: None,
            type_of_service: 0,
            traffic_class: 0,
            path_mtu: PATH_MTU_WANT,
            path_mtu_v6: PATH_MTU_WANT,
            v6_only: false,
            free_bind: false,
            stored: BTreeMap::new(),
        }
    }
}

/// `IP_PMTUDISC_WANT`.
pub(super) const PATH_MTU_WANT: u8 = 1;
