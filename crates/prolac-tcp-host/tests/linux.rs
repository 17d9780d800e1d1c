//! Our TCP against Linux's, over a TUN device in a namespace: transfers, ends of connections, resets, captures.
//!
//! `PROLAC_TCP_TEST_BYTES=1000000000 cargo test -p clickwork-prolac-tcp-host --release --test linux` transfers more.

#[path = "linux/capture.rs"]
mod capture;
#[path = "linux/ends.rs"]
mod ends;
mod support;
#[path = "linux/transfers.rs"]
mod transfers;

clickwork_oracles::tests! {
    capture::the_capture_of_a_client_is_clean,
    capture::the_capture_of_a_server_is_clean,
    capture::the_capture_over_ipv6_is_clean,
    ends::linux_closes_first,
    ends::we_close_first,
    ends::both_close_at_once,
    ends::a_stream_that_is_dropped_still_sends_what_was_written,
    ends::a_host_that_is_dropped_still_sends_what_was_written,
    ends::linux_resets,
    ends::we_reset,
    ends::text_that_nobody_read_makes_a_close_a_reset,
    ends::nobody_listens,
    ends::nobody_answers,
    ends::calls_that_must_not_wait_do_not,
    ends::reads_wait_no_longer_than_they_should,
    ends::a_reader_is_woken_when_its_stream_stops_reading,
    ends::a_look_takes_nothing_away,
    ends::connections_are_taken_as_they_come,
    transfers::many_connections_at_once,
    transfers::we_receive_from_a_client,
    transfers::we_send_to_a_client,
    transfers::we_receive_from_a_client_over_ipv6,
    transfers::we_send_to_a_client_over_ipv6,
    transfers::we_receive_from_a_server,
    transfers::we_send_to_a_server,
    transfers::both_send_at_once,
    transfers::both_send_at_once_over_ipv6,
    transfers::we_receive_without_offloads,
    transfers::we_send_without_offloads,
    transfers::both_send_at_once_without_offloads,
    transfers::both_send_at_once_without_offloads_over_ipv6,
}
