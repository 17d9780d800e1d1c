//! Click's local elements: experiments of its authors that published configurations use. TCP in pieces, a generator of
//! web traffic, and what else they needed.

mod buffer_converter;
mod copy_flow_id;
mod copy_tcp_seq;
mod dup_path;
mod force_ip;
mod force_transport;
mod reframe;
mod round_robin_unqueue;
mod tcp;
mod tcp_ack;
mod tcp_buffer;
mod tcp_conn;
mod tcp_demux;
mod tcp_reflector;
mod toy_tcp;
mod web_gen;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &buffer_converter::CLASS,
    &copy_flow_id::CLASS,
    &copy_tcp_seq::CLASS,
    &dup_path::CLASS,
    &force_ip::CLASS,
    &force_transport::ICMP,
    &force_transport::TCP,
    &force_transport::UDP,
    &reframe::CLASS,
    &round_robin_unqueue::CLASS,
    &tcp_ack::CLASS,
    &tcp_buffer::CLASS,
    &tcp_conn::CLASS,
    &tcp_demux::CLASS,
    &tcp_reflector::CLASS,
    &toy_tcp::CLASS,
    &web_gen::CLASS,
];
