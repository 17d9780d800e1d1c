//! Packets of every kind, whole and cut off, true and false.

use clickwork_packet::Packet;

/// Beginnings of packets of many kinds, by what they are.
const KINDS: &[(&str, &str)] = &[
    (
        "TCP",
        "4500002c000100004006 66b9 0a0000010a000002 04d20050 00000001 00000000 6002 ffff 1c46 0000 0204 05b4",
    ),
    (
        "UDP",
        "45000030000100004011 66a9 0a0000010a000002 04d20035 001c 0000 000102030405060708090a0b0c0d0e0f10111213",
    ),
    (
        "ICMP error",
        "4500003800010000ff01 a7b0 0a0000010a000002 0301 fcfe 00000000 4500002000010000 4011 66b9 0a0000020a000001 003504d2 000c0000",
    ),
    ("IP with options", "4700001c00010000401100000a0000010a000002 07070401020304 00 04d20035 00080000"),
    ("IP with lies", "4fffffff000120074011ffff0a0000010a000002 ffffffffffffffffffffffffffffffffffffffff"),
    ("fragment", "45000024000120034011 46b2 0a0000010a000002 000102030405060708090a0b0c0d0e0f"),
    (
        "ESP",
        "4500003400010000403200000a0000010a000002 00000101 00000001 000102030405060708090a0b0c0d0e0f1011121314151617",
    ),
    (
        "IPv6",
        "6000000000101140 20010db8000000000000000000000001 20010db8000000000000000000000002 04d20035 0010 0000 0001020304050607",
    ),
    (
        "IPv6 with headers",
        "60000000002000ff fe800000000000000000000000000001 ff020000000000000000000000000001 3a00050200000000 8700000000000000 fe800000000000000000000000000002 0101020304050607",
    ),
    ("Ethernet", "0200000000020200000000010800 4500001c000100004011 66bf 0a0000010a000002 04d2003500080000"),
    ("ARP", "ffffffffffff0200000000010806 0001080006040001 0200000000010a000001 000000000000 0a000002"),
    (
        "VLAN",
        "02000000000202000000000181006001 0800 4500001c000100004011 66bf 0a0000010a000002 04d2003500080000",
    ),
    (
        "BPDU",
        "0180c20000000200000000010026424203 0000000000 80000200000000010000000080000200000000018001 000014000200 0f00",
    ),
    ("802.11", "0801000002000000000202000000000102000000000310 00 aaaa03000000 0800 4500001c000100004011"),
    (
        "beacon",
        "80000000ffffffffffff02000000000302000000000310 00 0000000000000000 6400 0100 0003616263 010482848b96 030106",
    ),
    ("radiotap", "00000d000400800202000000000000 0801000002000000000202000000000102000000000310 00"),
    (
        "ones",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ),
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|d| (d[0] * 16 + d.get(1).unwrap_or(&0)) as u8).collect()
}

/// A packet of each kind in every length, with and without header marks, and very long ones.
pub fn odd_packets() -> impl Iterator<Item = Packet> {
    let cut = KINDS.iter().flat_map(|(_, hex)| {
        let whole = bytes(hex);
        (0..=whole.len()).map(move |n| Packet::new(&whole[..n]))
    });
    let marked = cut.clone().map(|mut p| {
        let header = p.data().first().map_or(20, |first| usize::from(first & 15) * 4);
        p.set_mac_offset(0);
        p.set_network_header(0, header as u32);
        p
    });
    cut.chain(marked).chain([Packet::zeroed(28, 65_535, 0), Packet::zeroed(0, 1_500, 0)])
}
