//! The arguments of `vpn-gateway.click` for two gateways that belong together.

const KEYS: [&str; 2] = [
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
    "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60616263",
];

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
