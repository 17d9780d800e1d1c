//! The arguments of `vpn-gateway.click` for two gateways that belong together.

/// The files of the two keys, as the example calls them; `Scratch::write_keys` makes them.
const KEYS: [&str; 2] = ["file:one.key", "file:two.key"];

/// The arguments of gateway 0 or 1: networks 10.1.0.0/24 and 10.2.0.0/24, joined by 192.0.2.0/24.
pub fn arguments(gateway: usize) -> Vec<String> {
    let (near, far) = (gateway + 1, 2 - gateway);
    vec![
        format!("LAN_IP=10.{near}.0.1"),
        format!("LAN_NET=10.{near}.0.0/24"),
        format!("FAR_NET=10.{far}.0.0/24"),
        format!("WAN_IP=192.0.2.{near}"),
        format!("NEXT_HOP=192.0.2.{far}"),
        format!("PEER=192.0.2.{far}"),
        format!("SPI_OUT=0x{near}001"),
        format!("SPI_IN=0x{far}001"),
        format!("KEY_OUT={}", KEYS[gateway]),
        format!("KEY_IN={}", KEYS[1 - gateway]),
    ]
}
