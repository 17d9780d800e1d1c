//! Connections as text, in the manner of `ss -ti`: a line with state, queues and addresses, a line with what TCP knows.

use super::stack::Shared;
use clickwork_prolac_tcp::abi::Status;
use clickwork_prolac_tcp::{ConnectionId, State};
use std::fmt::Write as _;

/// Bits of [`Status::options`], as in Linux's `tcpi_options`.
const OPTIONS: &[(u8, &str)] = &[(1, "ts"), (2, "sack"), (8, "ecn"), (16, "ecnseen"), (32, "fastopen")];
const WINDOW_SCALING: u8 = 4;
/// Congestion control, by its number in the configuration.
const CONTROLS: &[&str] = &["reno", "cubic"];
/// Congestion-avoidance states, as in Linux's `tcpi_ca_state`.
const STATES: &[&str] = &["", "disorder", "cwr", "recovery", "loss"];

/// All connections of a stack, those with the lowest addresses first.
pub fn connections(shared: &Shared, now: u64) -> String {
    let mut all: Vec<_> = shared.tcp.connections().filter_map(|id| Some((order(shared, id)?, id))).collect();
    all.sort();
    all.into_iter().filter_map(|(_, id)| connection(shared, id, now)).collect()
}

type Order = (std::net::SocketAddr, std::net::SocketAddr);

fn order(shared: &Shared, id: ConnectionId) -> Option<Order> {
    Some((shared.tcp.local_addr(id).ok()?, shared.tcp.peer_addr(id).ok()?))
}

fn connection(shared: &Shared, id: ConnectionId, now: u64) -> Option<String> {
    let (local, peer) = order(shared, id)?;
    let tcp = &shared.tcp;
    let state = state(tcp.state(id).ok()?);
    let (unread, queued) = (tcp.readable(id).ok()?, tcp.queued(id).ok()?);
    let status = tcp.status(now, id).ok()?;
    let owner = shared.owner_name(id).map_or(String::new(), |name| format!(" {name}"));
    let control = CONTROLS.get(tcp.config().congestion_control as usize).copied().unwrap_or_default();
    Some(format!("{state} {unread} {queued} {local} {peer}{owner}\n\t{}\n", details(&status, control)))
}

/// As `ss` writes it.
fn state(state: State) -> &'static str {
    match state {
        State::Established => "ESTAB",
        State::SynSent => "SYN-SENT",
        State::SynReceived => "SYN-RECV",
        State::FinWait1 => "FIN-WAIT-1",
        State::FinWait2 => "FIN-WAIT-2",
        State::TimeWait => "TIME-WAIT",
        State::Closed => "UNCONN",
        State::CloseWait => "CLOSE-WAIT",
        State::LastAck => "LAST-ACK",
        State::Listen => "LISTEN",
        State::Closing => "CLOSING",
    }
}

/// What there is to say about a connection; what is zero is left out, except where zero says something.
fn details(s: &Status, control: &str) -> String {
    let mut text = String::new();
    for (_, name) in OPTIONS.iter().filter(|(bit, _)| s.options & bit != 0) {
        let _ = write!(text, "{name} ");
    }
    let _ = write!(text, "{control} ");
    if s.options & WINDOW_SCALING != 0 {
        let _ = write!(text, "wscale:{},{} ", s.send_scale, s.receive_scale);
    }
    let _ = write!(text, "rto:{} ", ms(s.rto));
    if s.rtt > 0 {
        let _ = write!(text, "rtt:{}/{} ", ms(s.rtt), ms(s.rtt_variance));
    }
    if s.ato > 0 {
        let _ = write!(text, "ato:{} ", ms(s.ato));
    }
    let _ = write!(text, "mss:{} ", s.send_mss);
    let _ = write!(text, "pmtu:{} rcvmss:{} advmss:{} ", s.path_mtu, s.receive_mss, s.advertised_mss);
    let _ = write!(text, "cwnd:{} ", s.congestion_window);
    if s.send_threshold < 0x7fff_ffff {
        let _ = write!(text, "ssthresh:{} ", s.send_threshold);
    }
    if let Some(name) = STATES.get(s.congestion_state as usize).filter(|name| !name.is_empty()) {
        let _ = write!(text, "ca:{name} ");
    }
    counts(s, &mut text);
    text.truncate(text.trim_end().len());
    text
}

fn counts(s: &Status, text: &mut String) {
    let all: &[(&str, u64)] = &[
        ("backoff", s.backoff.into()),
        ("bytes_sent", s.bytes_sent),
        ("bytes_retrans", s.bytes_retransmitted),
        ("bytes_acked", s.bytes_acked),
        ("bytes_received", s.bytes_received),
        ("segs_out", s.segments_out.into()),
        ("segs_in", s.segments_in.into()),
        ("data_segs_out", s.data_segments_out.into()),
        ("data_segs_in", s.data_segments_in.into()),
    ];
    let more: &[(&str, u64)] = &[
        ("delivered", s.delivered.into()),
        ("delivered_ce", s.delivered_ce.into()),
        ("unacked", s.unacked.into()),
        ("lost", s.lost.into()),
        ("sacked", s.sacked.into()),
        ("dsack_dups", s.duplicate_sacks.into()),
        ("reord_seen", s.reordering_seen.into()),
        ("notsent", s.unsent.into()),
        ("snd_wnd", s.send_window.into()),
        ("rcv_wnd", s.receive_window.into()),
        ("rcv_space", s.receive_space.into()),
    ];
    add(text, all);
    if s.total_retransmissions > 0 {
        let _ = write!(text, "retrans:{}/{} ", s.retransmitted, s.total_retransmissions);
    }
    add(text, more);
    if s.min_rtt > 0 && s.min_rtt < u32::MAX {
        let _ = write!(text, "minrtt:{} ", ms(s.min_rtt));
    }
}

fn add(text: &mut String, counts: &[(&str, u64)]) {
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        let _ = write!(text, "{name}:{count} ");
    }
}

/// Microseconds as milliseconds, without zeros at the end.
fn ms(micros: u32) -> String {
    let text = format!("{}.{:03}", micros / 1000, micros % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_written_as_ss_does() {
        let status = Status {
            options: 7,
            send_scale: 7,
            receive_scale: 9,
            rto: 204_000,
            rtt: 3_500,
            rtt_variance: 1_250,
            send_mss: 1448,
            path_mtu: 1500,
            receive_mss: 536,
            advertised_mss: 1448,
            congestion_window: 10,
            send_threshold: 7,
            bytes_acked: 12,
            retransmitted: 1,
            total_retransmissions: 3,
            congestion_state: 3,
            ..Status::default()
        };
        assert_eq!(
            details(&status, "cubic"),
            "ts sack cubic wscale:7,9 rto:204 rtt:3.5/1.25 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:10 ssthresh:7 \
             ca:recovery bytes_acked:12 retrans:1/3"
        );
        let young = Status { send_threshold: 0x7fff_ffff, rto: 1_000_000, ..Status::default() };
        let young = details(&young, "reno");
        assert!(young.starts_with("reno rto:1000 mss:0") && !young.contains("ssthresh"), "{young}");
    }
}
