//! Packets of ours as tshark reads them.

mod compression;
#[path = "../../src/compression/samples.rs"]
#[allow(dead_code, reason = "the unit tests use all of it")]
mod compression_samples;
mod dissect;
mod ethernet;
mod icmp;
#[path = "../../src/ip"]
mod ip {
    #[allow(dead_code, reason = "the unit tests use all of it")]
    pub mod samples;
}
mod ip6;
mod wifi;
#[path = "../../src/wifi/samples.rs"]
mod wifi_samples;

clickwork_oracles::tests! {
    compression::tshark_reads_whole_headers_and_requests,
    wifi::data_frames_say_who_sends_to_whom,
    wifi::decapsulated_frames_have_the_addresses_that_others_see,
    wifi::radiotap_headers_are_understood,
    wifi::prism_headers_are_understood,
    wifi::encrypted_frames_are_read_with_the_key,
    wifi::numbers_and_fragments_are_understood,
    wifi::management_frames_are_understood,
    icmp::encapsulated_messages_are_understood,
    ethernet::tags_are_where_others_look_for_them,
    ethernet::pauses_are_understood,
    ethernet::bridges_are_understood,
    ip6::neighbours_are_asked_and_answered_so_that_others_understand,
    ip6::headers_are_understood,
    ip6::errors_are_understood,
    ip6::fragments_are_put_together,
    ip6::translated_packets_are_understood,
}
