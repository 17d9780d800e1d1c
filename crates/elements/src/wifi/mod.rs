//! Wireless: 802.11 encapsulation, rates, access points and stations.
//!
//! Read first: [`frame`] (the 802.11 header), [`extra`] (what hardware says about a packet), then any element. Access
//! points are in `ap/`, stations in `station/`; [`management`] has the frames that they exchange.

use clickwork_router::Class;

mod annotations;
mod ap;
mod athdesc;
mod available_rates;
mod ether_count;
pub mod extra;
mod extra_header;
mod filters;
mod fragments;
pub mod frame;
mod from_handler;
#[cfg(test)]
mod hostile;
mod link_table;
mod links;
pub mod management;
mod packet_store;
mod params;
mod print_tx_feedback;
mod print_wifi;
mod prism2;
mod radiotap;
mod rate_control;
mod rx_stats;
#[cfg(test)]
mod samples;
mod set_flags;
mod set_tx_power;
mod set_tx_rate;
mod station;
mod station_map;
mod wep;
mod wifi_decap;
mod wifi_dupe_filter;
mod wifi_encap;
mod wifi_seq;
mod wireless_info;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &annotations::PUSH,
    &annotations::READ,
    ap::CLASSES[0],
    ap::CLASSES[1],
    ap::CLASSES[2],
    ap::CLASSES[3],
    ap::CLASSES[4],
    &athdesc::DECAP,
    &athdesc::ENCAP,
    &available_rates::CLASS,
    &ether_count::CLASS,
    &extra_header::DECAP,
    &extra_header::ENCAP,
    &filters::FAILURES,
    &filters::PHY_ERRORS,
    &filters::SENT,
    &fragments::DEFRAG,
    &fragments::FRAGMENT,
    &from_handler::CLASS,
    &link_table::CLASS,
    &packet_store::CLASS,
    &print_tx_feedback::CLASS,
    &print_wifi::CLASS,
    &prism2::DECAP,
    &prism2::ENCAP,
    &radiotap::DECAP,
    &radiotap::ENCAP,
    rate_control::CLASSES[0],
    rate_control::CLASSES[1],
    rate_control::CLASSES[2],
    &rx_stats::CLASS,
    &set_flags::NO_ACK,
    &set_flags::RTS,
    &set_tx_power::CLASS,
    &set_tx_rate::CLASS,
    station::CLASSES[0],
    station::CLASSES[1],
    station::CLASSES[2],
    station::CLASSES[3],
    station::CLASSES[4],
    &wep::DECAP,
    &wep::ENCAP,
    &wifi_decap::CLASS,
    &wifi_dupe_filter::CLASS,
    &wifi_encap::CLASS,
    &wifi_seq::CLASS,
    &wireless_info::CLASS,
];
