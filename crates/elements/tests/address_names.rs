//! What names of addresses and prefixes mean in the arguments of elements: where either may stand, the address.
#![allow(missing_docs)]

use clickwork_elements::testing::Harness;
use clickwork_packet::Packet;

const NAMES: &str = "AddressInfo(if0 10.0.0.254/24 2:0:0:0:0:1, if0 2001:db8::5/64, lan 10.0.0.0/24);";

/// Elements, what is read of them, and what it says.
const TABLE: &[(&str, &str, &str)] = &[
    ("ARPResponder(if0)", "table", "10.0.0.254/32 02-00-00-00-00-01\n"),
    ("ARPResponder(if0:ipnet if0:eth)", "table", "10.0.0.0/24 02-00-00-00-00-01\n"),
    ("ARPResponder(if0/16 if0:ether)", "table", "10.0.0.0/16 02-00-00-00-00-01\n"),
    (
        "ARPResponder(if0:bcast if0:ethernet, lan 2:0:0:0:0:2)",
        "table",
        "10.0.0.255/32 02-00-00-00-00-01\n10.0.0.0/24 02-00-00-00-00-02\n",
    ),
    ("StaticIPLookup(if0 0, if0:ipnet 0)", "table", "10.0.0.254/32\t\t-\t\t0\n10.0.0.0/24\t\t-\t\t0\n"),
    (
        "LinearIPLookup(if0 if0:gw 0, if0:net 0)",
        "table",
        "10.0.0.254/32\t\t10.0.0.1\t0\n10.0.0.0/24\t\t-\t\t0\n",
    ),
    ("SortedIPLookup(if0:ipnet 0, if0 0)", "table", "10.0.0.254/32\t\t-\t\t0\n10.0.0.0/24\t\t-\t\t0\n"),
    ("RadixIPLookup(if0 0, lan 0)", "table", "10.0.0.254/32\t\t-\t\t0\n10.0.0.0/24\t\t-\t\t0\n"),
    ("DirectIPLookup(if0 0, lan 0)", "table", "10.0.0.0/24\t\t-\t\t0\n10.0.0.254/32\t\t-\t\t0\n"),
    ("RangeIPLookup(if0 0)", "table", "10.0.0.254/32\t\t-\t\t0\n"),
    (
        "LookupIP6Route(if0 0, if0:ip6net 0)",
        "table",
        "# Active routes\n2001:db8::5/128\t::\t0\n2001:db8::/64\t::\t0\n",
    ),
    (
        "LookupIP6Route(64:ff9b::if0 ::if0:gw 0)",
        "table",
        "# Active routes\n64:ff9b::a00:fe/128\t::10.0.0.1\t0\n",
    ),
    ("IPRewriter(pattern if0 - - - 0 0)", "patterns", "10.0.0.254 - - -\n"),
    ("IPRewriter(pattern if0:ipnet 1-9 - - 0 0)", "patterns", "10.0.0.1 1-9 - -\n"),
];

#[test]
fn handlers_show_what_names_mean() {
    let said = |element: &str, handler: &str| {
        let mut t = Harness::new(&format!("{NAMES} e :: {element}; s :: Source -> e -> k :: Sink"));
        t.read(&format!("e.{handler}"))
    };
    let different: Vec<_> =
        TABLE.iter().map(|(e, h, expected)| (e, said(e, h), expected)).filter(|(_, s, e)| s != *e).collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn a_querier_named_by_its_address_knows_no_network() {
    for (name, broadcast) in
        [("if0", "255.255.255.255"), ("if0:ipnet, if0", "10.0.0.255"), ("if0/16, if0", "10.0.255.255")]
    {
        let mut t = Harness::new(&format!(
            "{NAMES} q :: ARPQuerier({name}); s :: Source -> q -> k :: Sink; Idle -> [1] q"
        ));
        assert_eq!([t.read("q.ipaddr"), t.read("q.broadcast")], ["10.0.0.254", broadcast], "{name}");
    }
}

/// An IP packet without a checksum.
fn ip(source: [u8; 4]) -> Packet {
    let addresses = [source, [10, 0, 0, 1]].concat();
    Packet::new(&[&[0x45, 0, 0, 20, 0, 0, 0, 0, 9, 200, 0, 0], &addresses[..]].concat())
}

#[test]
fn an_interface_named_by_its_address_has_its_address_as_broadcast_address() {
    for (name, refused) in
        [("if0", [10, 0, 0, 254]), ("if0:ipnet", [10, 0, 0, 255]), ("lan", [10, 0, 0, 255])]
    {
        let mut t = Harness::new(&format!(
            "{NAMES} s :: Source -> c :: CheckIPHeader(INTERFACES {name}, CHECKSUM false) -> k :: Sink; c[1] -> bad :: Sink"
        ));
        t.push("s", 0, [ip([10, 0, 0, 254]), ip([10, 0, 0, 255])]);
        assert_eq!(
            t.bytes("bad").iter().map(|p| p[12..16].to_vec()).collect::<Vec<_>>(),
            [refused],
            "{name}"
        );
    }
}

#[test]
fn random_addresses_of_one_address_are_it() {
    for (name, same) in [("if0", true), ("if0:ipnet", false)] {
        let mut t = Harness::new(&format!("{NAMES} s :: Source -> SetRandIPAddress({name}) -> k :: Sink"));
        t.push("s", 0, [ip([0; 4]), ip([0; 4]), ip([0; 4])]);
        let chosen: Vec<_> = t.take("k").iter().map(|p| p.dst_ip().octets()).collect();
        assert_eq!(chosen.iter().all(|a| *a == [10, 0, 0, 254]), same, "{name} {chosen:?}");
    }
}

#[test]
fn filters_tell_hosts_from_networks() {
    for (filter, passed) in
        [("src host if0", 1), ("src net if0", 2), ("src if0", 1), ("src net lan", 2), ("src if0:net", 2)]
    {
        let mut t = Harness::new(&format!(
            "{NAMES} s :: Source -> MarkIPHeader -> IPClassifier({filter}) -> k :: Sink"
        ));
        t.push("s", 0, [ip([10, 0, 0, 254]), ip([10, 0, 0, 3]), ip([10, 0, 1, 3])]);
        assert_eq!(t.take("k").len(), passed, "{filter}");
    }
}
