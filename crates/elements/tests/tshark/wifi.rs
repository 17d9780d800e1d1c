//! What tshark reads in the frames that the elements write, and in those that scapy wrote, after our decapsulation.

use crate::dissect::dissected;
use crate::wifi_samples::frame;
use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::testing::Harness;
use clickwork_packet::Packet;

const ETHER: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 1, 2];

/// The frames that leave `config`, which has a source `s`, for one Ethernet frame.
fn made(config: &str) -> Vec<Vec<u8>> {
    let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
    t.push("s", 0, [Packet::new(ETHER)]);
    t.bytes("k")
}

/// The header's fields, of data frames.
const ENDS: [&str; 8] = [
    "wlan.fc.type_subtype",
    "wlan.fc.ds",
    "wlan.ra",
    "wlan.ta",
    "wlan.da",
    "wlan.sa",
    "wlan.bssid",
    "llc.type",
];

pub fn data_frames_say_who_sends_to_whom() {
    let frames: Vec<_> = (0..4).flat_map(|mode| made(&format!("WifiEncap({mode}, 2:0:0:0:0:3)"))).collect();
    let lines = dissected(LinkType::IEEE802_11, &frames, &ENDS, &[]);
    let [one, two, three] = [1, 2, 3].map(|n| format!("02:00:00:00:00:0{n}"));
    assert_eq!(
        lines,
        [
            format!("0x0020|0x00|{one}|{two}|{one}|{two}|{three}|0x0800"),
            format!("0x0020|0x01|{three}|{two}|{one}|{two}|{three}|0x0800"),
            format!("0x0020|0x02|{one}|{three}|{one}|{two}|{three}|0x0800"),
            format!("0x0020|0x03|{three}|{two}|{one}|{two}||0x0800"),
        ]
    );
}

/// What we take for the ends of a frame is what tshark takes for them.
pub fn decapsulated_frames_have_the_addresses_that_others_see() {
    let names =
        ["data nods", "data tods", "data fromds", "data wds", "data relayed", "data qos", "data retry"];
    let frames = names.map(frame).to_vec();
    let lines = dissected(LinkType::IEEE802_11, &frames, &["wlan.da", "wlan.sa", "llc.type"], &[]);
    let mut t = Harness::new("s :: Source -> WifiDecap(STRICT true) -> k :: Sink");
    t.push("s", 0, frames.iter().map(|frame| Packet::new(frame)));
    let ours = dissected(LinkType::ETHER, &t.bytes("k"), &["eth.dst", "eth.src", "eth.type"], &[]);
    assert_eq!(ours, lines);
}

pub fn radiotap_headers_are_understood() {
    let config =
        "SetTXRate(22, TRIES 5) -> SetTXPower(20) -> SetNoAck -> WifiEncap(1, 2:0:0:0:0:3) -> RadiotapEncap";
    let frames = [made(config), made("WifiEncap(1, 2:0:0:0:0:3) -> RadiotapEncap")].concat();
    let fields = [
        "radiotap.present.word",
        "radiotap.length",
        "radiotap.datarate",
        "radiotap.txpower",
        "radiotap.txflags",
        "radiotap.data_retries",
        "wlan.da",
    ];
    let lines = dissected(LinkType::IEEE802_11_RADIO, &frames, &fields, &[]);
    let address = "02:00:00:00:00:01";
    assert_eq!(
        lines,
        [format!("0x00028404|14|11|20|0x0008|4|{address}"), format!("0x00028404|14|0|0|0x0000|12|{address}"),]
    );
}

pub fn prism_headers_are_understood() {
    let frames = made("SetTXRate(22) -> WifiEncap(1, 2:0:0:0:0:3) -> Prism2Encap");
    let fields =
        ["prism.msgcode", "prism.msglen", "prism.did.rate", "prism.did.istx", "prism.did.frmlen", "wlan.da"];
    let lines = dissected(LinkType::PRISM, &frames, &fields, &[]);
    assert_eq!(lines, ["0x00000044|144|22|0x00000001|35|02:00:00:00:00:01"]);
}

/// tshark has the key, and tries it whatever its number.
pub fn encrypted_frames_are_read_with_the_key() {
    let config = "WifiEncap(1, 2:0:0:0:0:3) -> WepEncap(abcde, ACTIVE true, KEYID 2)";
    let mut frames = made(config);
    let mut t = Harness::new("s :: Source -> WepEncap(abcde, ACTIVE true, KEYID 2) -> k :: Sink");
    t.push("s", 0, ["data qos", "data relayed"].map(|name| Packet::new(&frame(name))));
    frames.extend(t.bytes("k"));
    let fields = ["wlan.fc.protected", "wlan.wep.key", "wlan.da", "llc.type"];
    let key = ["wlan.enable_decryption:TRUE", "uat:80211_keys:\"wep\",\"61:62:63:64:65\""];
    let lines = dissected(LinkType::IEEE802_11, &frames, &fields, &key);
    assert_eq!(lines, vec!["1|2|02:00:00:00:00:01|0x0800"; 3]);
}

pub fn numbers_and_fragments_are_understood() {
    let mut t = Harness::new(
        "s :: Source -> WifiEncap(1, 2:0:0:0:0:3) -> q :: WifiSeq -> t :: Tee(2); t[0] -> k :: Sink;
         t[1] -> WifiFragment(5) -> f :: Sink",
    );
    t.write("q.seq 700").unwrap();
    t.push("s", 0, [Packet::new(ETHER), Packet::new(ETHER)]);
    let frames = [t.bytes("k"), t.bytes("f")].concat();
    let fields = ["wlan.seq", "wlan.frag", "wlan.fc.frag", "wlan.fragment.count", "llc.type"];
    let lines = dissected(LinkType::IEEE802_11, &frames, &fields, &[]);
    assert_eq!(
        lines,
        [
            "700|0|0||0x0800",
            "701|0|0||0x0800",
            "700|0|1||",
            "700|1|1||",
            "700|2|0|3|0x0800",
            "701|0|1||",
            "701|1|1||",
            "701|2|0|3|0x0800",
        ]
    );
}

/// What access point and station say to each other.
pub fn management_frames_are_understood() {
    let mut t = Harness::new(
        "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3, CHANNEL 3, WEP true);
         rates :: AvailableRates(DEFAULT 2 4 11 12 18 22 24 36 48 72 96 108);
         Idle -> BeaconSource(WIRELESS_INFO wi, RT rates) -> b :: Sink;
         p :: ProbeRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates) -> k :: Sink;
         Idle -> o :: OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi) -> k;
         Idle -> a :: AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates) -> k;
         probe :: Source -> ProbeResponder(SSID home, BSSID 2:0:0:0:0:3, CHANNEL 3, INTERVAL 100, RT rates) -> j :: Sink;
         auth :: Source -> OpenAuthResponder(WIRELESS_INFO wi) -> j;
         assoc :: Source -> AssociationResponder(WIRELESS_INFO wi, RT rates) -> j",
    );
    for request in ["p.send_probe", "o.send_auth_req", "a.send_assoc_req"] {
        t.write(request).unwrap();
    }
    t.run_for(std::time::Duration::from_millis(150));
    let mut frames = [t.bytes("b"), t.bytes("k")].concat();
    for (answers, request) in ["probe", "auth", "assoc"].iter().zip(&frames[1..]) {
        t.push(answers, 0, [Packet::new(request)]);
    }
    frames.extend(t.bytes("j"));
    let fields = [
        "wlan.fc.type_subtype",
        "wlan.ra",
        "wlan.ta",
        "wlan.fixed.beacon",
        "wlan.fixed.capabilities",
        "wlan.fixed.listen_ival",
        "wlan.ssid",
        "wlan.supported_rates",
        "wlan.ds.current_channel",
        "wlan.extended_supported_rates",
        "wlan.fixed.auth.alg",
        "wlan.fixed.auth_seq",
        "wlan.fixed.status_code",
        "wlan.fixed.aid",
    ];
    let lines = dissected(LinkType::IEEE802_11, &frames, &fields, &[]);
    let (all, station, point) = ("ff:ff:ff:ff:ff:ff", "02:00:00:00:00:02", "02:00:00:00:00:03");
    let (first, more) = ("0x82,0x04,0x0b,0x0c,0x12,0x16,0x18,0x24", "0x30,0x48,0x60,0x6c");
    assert_eq!(
        lines,
        [
            format!("0x0008|{all}|{point}|100|0x0001||686f6d65|{first}|3|{more}||||"),
            format!("0x0004|{all}|{station}||||686f6d65|{first}||{more}||||"),
            format!("0x000b|{point}|{station}||||||||0|0x0001|0x0000|"),
            format!("0x0000|{point}|{station}||0x0011|0x0064|686f6d65|{first}||{more}||||"),
            format!("0x0005|{station}|{point}|100|0x0001||686f6d65|{first},{more}|3|||||"),
            format!("0x000b|{station}|{point}||||||||0|0x0002|0x0000|"),
            format!("0x0001|{station}|{point}||0x0001|||{first}||{more}|||0x0000|0x0000"),
        ]
    );
}
