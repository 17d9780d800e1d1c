//! What needs root or another program: examples at work between network namespaces, packets as tshark reads them.

mod common;
#[path = "live/demo.rs"]
mod demo;
#[path = "live/emulator.rs"]
mod emulator;
#[path = "live/namespaces.rs"]
mod namespaces;
#[path = "live/nat.rs"]
mod nat;
#[path = "live/new_ip_router.rs"]
mod new_ip_router;
#[path = "live/pings.rs"]
mod pings;
#[path = "live/tcp.rs"]
mod tcp;
#[path = "live/tunnel.rs"]
mod tunnel;
#[path = "live/vpn.rs"]
mod vpn;
#[path = "examples/vpn_arguments.rs"]
mod vpn_arguments;

/// The path of an example.
fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

clickwork_oracles::tests! {
    demo::tshark_reads_the_packets_as_intended,
    emulator::the_emulator_stands_between_two_kernels,
    nat::a_live_gateway_lets_kernels_talk_through_it_and_nobody_in,
    new_ip_router::kernel_hosts_reach_each_other_through_the_router,
    tcp::the_kernels_tcp_is_served_by_the_old_servers,
    tcp::a_local_server_is_reached_from_another_host_through_the_gateway,
    tunnel::hosts_on_both_sides_of_a_live_tunnel_are_neighbours,
    vpn::hosts_behind_two_live_vpn_gateways_reach_each_other,
}
