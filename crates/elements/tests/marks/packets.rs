//! The packets that elements get.

/// Packets in hexadecimal by kind, with the offsets of their link-level, network and transport headers. A packet that
/// begins with its IP header has an odd link-level offset, which no element would choose.
const KINDS: &[(&str, &str, [i32; 3])] = &[
    (
        "udp",
        "45000030000100004011 66ba 0a0000010a000002 04d20035 001c 0000 000102030405060708090a0b0c0d0e0f10111213",
        [-7, 0, 20],
    ),
    (
        "tcp",
        "4500002c000100004006 66c9 0a0000010a000002 04d20050 00000001 00000000 5002 ffff 8cad 0000 04050607",
        [-7, 0, 20],
    ),
    ("echo", "4500001c000100004001 66de 0a0000010a000002 0800 f7fd 00010001", [-7, 0, 20]),
    (
        "unreach",
        "4500003800010000ff01 a7c1 0a0000010a000002 0301 fcfe 00000000 4500002000010000 4011 66b9 0a0000020a000001 003504d2 000c0000",
        [-7, 0, 20],
    ),
    (
        "eudp",
        "020000000002 020000000001 0800 45000030000100004011 66ba 0a0000010a000002 04d20035 001c 0000 000102030405060708090a0b0c0d0e0f10111213",
        [0, 14, 34],
    ),
    (
        "vlan",
        "020000000002 020000000001 8100 6005 0800 45000030000100004011 66ba 0a0000010a000002 04d20035 001c 0000 000102030405060708090a0b0c0d0e0f10111213",
        [0, 18, 38],
    ),
    (
        "arpq",
        "ffffffffffff 020000000001 0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002",
        [0, 14, 14],
    ),
    (
        "arpr",
        "020000000001 020000000002 0806 0001 0800 06 04 0002 020000000002 0a000002 020000000001 0a000001",
        [0, 14, 14],
    ),
    (
        "ip6",
        "6000000000101140 20010db8000000000000000000000001 20010db8000000000000000000000002 04d20035 0010 0000 0001020304050607",
        [-7, 0, 40],
    ),
    (
        "ns",
        "33330000ff02 020000000001 86dd 6000000000203aff 20010db8000000000000000000000001 ff0200000000000000000001ff000002 8700 1c27 00000000 20010db8000000000000000000000002 0101 020000000001",
        [0, 14, 54],
    ),
    (
        "raw",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30",
        [-7, 0, 20],
    ),
];

/// The bytes and offsets of a kind of packet; none for `-`.
pub fn of_kind(kind: &str) -> Option<(Vec<u8>, [i32; 3])> {
    let (_, hex, marks) = KINDS.iter().find(|(name, ..)| *name == kind)?;
    Some((bytes(hex), *marks))
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte =
        |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("digits");
    digits.chunks(2).map(byte).collect()
}
