//! Click's local elements: experiments of its authors that published configurations use. TCP in pieces, a generator of
//! web traffic, and what else they needed.

mod buffer_converter;
mod copy_flow_id;
mod copy_tcp_seq;
mod tcp;
mod tcp_ack;
mod tcp_buffer;
mod tcp_conn;
mod tcp_demux;
mod toy_tcp;
mod web_gen;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &buffer_converter::CLASS,
    &copy_flow_id::CLASS,
    &copy_tcp_seq::CLASS,
    &tcp_ack::CLASS,
    &tcp_buffer::CLASS,
    &tcp_conn::CLASS,
    &tcp_demux::CLASS,
    &toy_tcp::CLASS,
    &web_gen::CLASS,
];
