//! Measurement: aggregates of packets, flows, timestamps.
//!
//! An *aggregate* is a number in an annotation that says which packets belong together. AggregateIP and its relatives
//! set it, AggregateCounter and its relatives use it. What happens in the life of an aggregate is told from the former to
//! the latter through [`notifier`].

mod adjust_timestamp;
mod aggregate_counter;
mod aggregate_filter;
mod aggregate_first;
mod aggregate_ip;
mod aggregate_ip_addr_pair;
mod aggregate_ip_flows;
mod aggregate_last;
mod aggregate_length;
mod aggregate_packet_counter;
mod aggregate_paint;
mod anonymize_ip_addr;
mod call;
mod host_pair;
mod ip_field;
mod ip_rate_monitor;
mod notifier;
mod number;
#[cfg(test)]
mod samples;
mod set_timestamp_delta;
mod store_timestamp;
mod store_udp_time_seq_record;
mod time;
mod time_filter;
mod time_range;
mod timestamp_accum;
mod to_ip_flow_dumps;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &adjust_timestamp::CLASS,
    &aggregate_counter::CLASS,
    &aggregate_filter::CLASS,
    &aggregate_first::CLASS,
    &aggregate_ip::CLASS,
    &aggregate_ip_addr_pair::CLASS,
    &aggregate_ip_flows::CLASS,
    &aggregate_last::CLASS,
    &aggregate_length::CLASS,
    &aggregate_packet_counter::CLASS,
    &aggregate_paint::CLASS,
    &anonymize_ip_addr::CLASS,
    &ip_rate_monitor::CLASS,
    &set_timestamp_delta::CLASS,
    &store_timestamp::CLASS,
    &store_udp_time_seq_record::CLASS,
    &time_filter::CLASS,
    &time_range::CLASS,
    &timestamp_accum::CLASS,
    &to_ip_flow_dumps::CLASS,
];
