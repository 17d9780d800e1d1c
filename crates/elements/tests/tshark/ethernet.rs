//! What tshark reads in frames that the elements write: VLAN tags, pauses, and spanning tree messages.

use crate::dissect::dissected;
use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::testing::Harness;
use clickwork_packet::Packet;
use std::time::Duration;

const IP: &[u8] = b"\x45\0\0\x14\0\0\0\0\x40\xfd\0\0\x01\0\0\x01\x02\0\0\x02";

pub fn tags_are_where_others_look_for_them() {
    let inner = "EtherVLANEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2, VLAN_ID 7, VLAN_PCP 5)";
    let both = format!("{inner} -> VLANEncap(VLAN_ID 300, VLAN_PCP 1)");
    let configs = [
        inner.to_string(),
        both.clone(),
        format!("{both} -> VLANDecap"),
        format!("{both} -> VLANDecap -> VLANDecap"),
        inner.replace("VLAN_ID 7, VLAN_PCP 5", "0"),
        format!("{both} -> VLANDecap -> VLANDecap -> VLANEncap(0x6123)"),
    ];
    let frames: Vec<_> = (configs.iter())
        .flat_map(|config| {
            let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
            t.push("s", 0, [Packet::new(IP)]);
            t.bytes("k")
        })
        .collect();
    let fields = ["eth.dst", "eth.src", "vlan.priority", "vlan.id", "ip.dst"];
    let lines = dissected(LinkType::ETHER, &frames, &fields, &[]);
    let tags = ["5|7", "1,5|300,7", "5|7", "|", "|", "3|291"];
    let expected = tags.map(|tags| format!("02:00:00:00:00:02|02:00:00:00:00:01|{tags}|2.0.0.2"));
    assert_eq!(lines, expected);
}

pub fn pauses_are_understood() {
    let mut t = Harness::new("EtherPauseSource(2:0:0:0:0:1, 1000, LIMIT 1, INTERVAL 0.001) -> k :: Sink");
    t.run_for(Duration::from_millis(10));
    let fields = ["eth.dst", "eth.src", "eth.type", "macc.opcode", "macc.pause_time", "frame.len"];
    let lines = dissected(LinkType::ETHER, &t.bytes("k"), &fields, &[]);
    assert_eq!(lines, ["01:80:c2:00:00:01|02:00:00:00:00:01|0x8808|0x0001|1000|64"]);
}

pub fn bridges_are_understood() {
    let mut t = Harness::new(
        "st :: EtherSpanTree(2:0:0:0:0:1, in, out, sw, BRIDGE_PRIORITY 32773, MAX_AGE 30, FORWARD_DELAY 20);
         in, out :: Suppressor; Idle -> in -> sw :: EtherSwitch -> out -> Discard;
         Idle -> [1] in [1] -> [1] sw [1] -> [1] out [1] -> Discard;
         Idle -> st -> k0 :: Sink; Idle -> [1] st [1] -> k1 :: Sink",
    );
    t.run_for(Duration::from_millis(100));
    let frames = [t.bytes("k0").swap_remove(0), t.bytes("k1").swap_remove(0)];
    let fields = [
        "eth.dst",
        "eth.src",
        "stp.type",
        "stp.root.prio",
        "stp.root.ext",
        "stp.root.hw",
        "stp.root.cost",
        "stp.bridge.prio",
        "stp.bridge.ext",
        "stp.bridge.hw",
        "stp.port",
        "stp.msg_age",
        "stp.max_age",
        "stp.hello",
        "stp.forward",
    ];
    let lines = dissected(LinkType::ETHER, &frames, &fields, &[]);
    let bridge = "02:00:00:00:00:01";
    let ends = format!("01:80:c2:00:00:00|{bridge}|0x00|32768|5|{bridge}|0|32768|5|{bridge}");
    assert_eq!(lines, ["0x8001", "0x8002"].map(|port| format!("{ends}|{port}|0|30|2|20")));
}
