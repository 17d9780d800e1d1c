//! TCP_INFO: `struct tcp_info` of Linux 6.18, byte for byte.

use crate::abi::{Config, Status};

/// Bytes of the structure.
pub const TCP_INFO_LENGTH: usize = 280;

/// A threshold or window that was never set.
const INFINITE: u32 = 0x7fff_ffff;
/// `TCP_MSS_DEFAULT`.
const MSS_DEFAULT: u32 = 536;

/// The structure, field by field, in its order; the machine's own byte order.
struct Layout(Vec<u8>);

impl Layout {
    fn bytes(&mut self, values: &[u8]) -> &mut Layout {
        self.0.extend_from_slice(values);
        self
    }

    fn halves(&mut self, values: &[u16]) -> &mut Layout {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
        self
    }

    fn words(&mut self, values: &[u32]) -> &mut Layout {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
        self
    }

    fn longs(&mut self, values: &[u64]) -> &mut Layout {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
        self
    }
}

/// Of a connection, in whatever state the socket shows.
pub(super) fn of_connection(state: u8, s: &Status) -> Vec<u8> {
    let mut layout = Layout(Vec::with_capacity(TCP_INFO_LENGTH));
    let scales = s.send_scale & 15 | s.receive_scale << 4;
    let milliseconds = |micros: u32| micros / 1000;
    let pacing = pacing_rate(s);
    let longest = if s.pacing_rate == 0 { u64::MAX } else { s.pacing_rate };
    let rates = (s.is_rate_limited_by_user & 1 | (s.fast_open_failure & 3) << 1) as u8;
    layout
        .bytes(&[state, s.congestion_state, s.retransmits, s.probes, s.backoff, s.options, scales, rates])
        .words(&[s.rto, s.ato, s.send_mss, s.receive_mss])
        // The last of them, fackets, has been 0 since Linux 4.15.
        .words(&[s.unacked, s.sacked, s.lost, s.retransmitted, 0])
        // Linux does not remember when it sent an acknowledgment.
        .words(&[milliseconds(s.last_data_sent), 0])
        .words(&[milliseconds(s.last_data_received), milliseconds(s.last_ack_received)])
        .words(&[s.path_mtu, s.receive_threshold, s.rtt, s.rtt_variance])
        .words(&[s.send_threshold, s.congestion_window, s.advertised_mss, s.reordering])
        .words(&[s.receive_rtt, s.receive_space, s.total_retransmissions])
        .longs(&[pacing, longest, s.bytes_acked, s.bytes_received])
        .words(&[s.segments_out, s.segments_in, s.unsent, s.min_rtt])
        .words(&[s.data_segments_in, s.data_segments_out])
        // The time in which a full buffer is the limit, the last, is not measured.
        .longs(&[s.delivery_rate, s.busy_time, s.window_limited_time, 0])
        .words(&[s.delivered, s.delivered_ce])
        .longs(&[s.bytes_sent, s.bytes_retransmitted])
        .words(&[s.duplicate_sacks, s.reordering_seen, s.early_segments, s.send_window, s.receive_window])
        // No route was ever given up for another one.
        .words(&[0])
        .halves(&[s.timeouts as u16, s.timeout_recoveries as u16])
        .words(&[s.timeout_time]);
    layout.0.resize(TCP_INFO_LENGTH, 0);
    layout.0
}

/// `tcp_update_pacing_rate`: the window in a round trip, and more of it while it grows; the user's limit, if that is less.
fn pacing_rate(s: &Status) -> u64 {
    if s.rtt == 0 {
        return s.pacing_rate;
    }
    let percent = if s.congestion_window < s.send_threshold / 2 { 200 } else { 120 };
    let window = u64::from(s.congestion_window.max(s.unacked)) * u64::from(s.send_mss);
    (window * percent * 10_000 / u64::from(s.rtt)).min(s.pacing_rate)
}

/// Of a socket without a connection.
pub(super) fn of_resting(state: u8, config: &Config) -> Vec<u8> {
    let status = Status {
        rto: config.rto_initial,
        send_mss: MSS_DEFAULT,
        send_threshold: INFINITE,
        congestion_window: config.initial_window,
        reordering: 3,
        min_rtt: u32::MAX,
        pacing_rate: u64::MAX,
        ..Status::default()
    };
    of_connection(state, &status)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets that programs compiled against Linux's header rely on.
    #[test]
    fn fields_stand_where_linux_has_them() {
        let status = Status {
            send_scale: 7,
            receive_scale: 9,
            rto: 0x0101,
            rtt: 0x0202,
            congestion_window: 0x0303,
            bytes_received: 0x0404,
            min_rtt: 0x0505,
            bytes_sent: 0x0606,
            send_window: 0x0707,
            receive_window: 0x0808,
            early_segments: 0x0909,
            timeouts: 0x0a0a,
            timeout_time: 0x0b0b,
            busy_time: 0x0c0c,
            ..Status::default()
        };
        let info = of_connection(1, &status);
        let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().unwrap());
        assert_eq!((info.len(), info[0], info[6]), (TCP_INFO_LENGTH, 1, 0x97));
        assert_eq!([8, 68, 80, 128].map(word), [0x0101, 0x0202, 0x0303, 0x0404]);
        assert_eq!([168, 224, 240, 244].map(word), [0x0c0c, 0x0909, 0x0a0a, 0x0b0b]);
        assert_eq!([148, 200, 228, 232].map(word), [0x0505, 0x0606, 0x0707, 0x0808]);
    }
}
