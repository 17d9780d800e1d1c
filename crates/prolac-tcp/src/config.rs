//! The two sets of parameters that a stack can start with: those of Linux, and those of 4.4BSD.
//!
//! What each means stands at [`Config`]. Linux's are the defaults of its `net.ipv4.tcp_*` sysctls.

use crate::abi::Config;

const MILLISECOND: u32 = 1_000;
const SECOND: u32 = 1_000 * MILLISECOND;

impl Default for Config {
    /// Linux.
    fn default() -> Self {
        Self {
            personality: 0,
            window_scaling: 1,
            timestamps: 1,
            sack: 1,
            ecn: 2,
            fast_open: 1,
            syn_cookies: 1,
            path_mtu: 1,
            mss: 0,
            mtu: 1500,
            initial_window: 10,
            syn_retries: 6,
            synack_retries: 5,
            retries: 15,
            orphan_retries: 8,
            keepalive_probes: 9,
            rto_initial: SECOND,
            rto_min: 200 * MILLISECOND,
            rto_max: 120 * SECOND,
            delayed_ack_min: 40 * MILLISECOND,
            delayed_ack_max: 200 * MILLISECOND,
            time_wait: 60 * SECOND,
            fin_timeout: 60 * SECOND,
            keepalive_time: 7_200_000,
            keepalive_interval: 75_000,
            receive_buffer: 131_072,
            receive_buffer_max: 6_291_456,
            challenge_acks: 1000,
            congestion_control: 1,
            reserved: [0; 3],
        }
    }
}

impl Config {
    /// 4.4BSD-Lite2, as in Stevens and Wright's TCP/IP Illustrated volume 2: its timers' half seconds, one segment to
    /// begin with, Reno, no selective acknowledgments, buffers that stay as they are.
    pub fn bsd() -> Self {
        Self {
            personality: 1,
            sack: 0,
            ecn: 0,
            fast_open: 0,
            syn_cookies: 0,
            path_mtu: 0,
            initial_window: 1,
            syn_retries: 3,
            synack_retries: 3,
            retries: 12,
            orphan_retries: 12,
            keepalive_probes: 8,
            rto_initial: 6 * SECOND,
            rto_min: SECOND,
            rto_max: 64 * SECOND,
            delayed_ack_min: 200 * MILLISECOND,
            delayed_ack_max: 200 * MILLISECOND,
            fin_timeout: 675 * SECOND,
            receive_buffer: 16_384,
            receive_buffer_max: 16_384,
            challenge_acks: 10,
            congestion_control: 0,
            ..Self::default()
        }
    }
}
