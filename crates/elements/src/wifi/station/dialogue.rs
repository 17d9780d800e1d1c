//! An access point and a station in one router talk to each other: the station finds the network, authenticates, joins,
//! and sends data through the access point.

use crate::testing::Harness;
use clickwork_packet::Packet;
use std::time::Duration;

const ROUTER: &str = "
elementclass AccessPoint {
  wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3, CHANNEL 3);
  rates :: AvailableRates(DEFAULT 2 4 11 22);
  input -> kinds :: Classifier(0/00%fc, 0/40%fc, 0/b0%fc, 0/08%0c);
  kinds[0] -> AssociationResponder(WIRELESS_INFO wi, RT rates) -> output;
  kinds[1] -> BeaconSource(WIRELESS_INFO wi, RT rates) -> output;
  kinds[2] -> OpenAuthResponder(WIRELESS_INFO wi) -> output;
  kinds[3] -> WifiDecap -> [1] output;
}
elementclass Station {
  wi :: WirelessInfo(SSID home, CHANNEL 0);
  rates :: AvailableRates(DEFAULT 2 4 11 22);
  input[0] -> scan :: BeaconScanner(WIRELESS_INFO wi, RT rates)
    -> kinds :: Classifier(0/10%fc, 0/b0%fc, -);
  kinds[0] -> join :: AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates) -> output;
  kinds[1] -> auth :: OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, DEBUG true) -> output;
  kinds[2] -> Discard;
  input[1] -> WifiEncap(1, WIRELESS_INFO wi) -> output;
  probe :: ProbeRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates) -> output;
}
ap :: AccessPoint; station :: Station;
station -> up :: Counter -> ap -> down :: Counter -> station;
s :: Source -> [1] station; ap[1] -> wired :: Sink";

#[test]
fn a_station_joins_and_sends() {
    let mut t = Harness::new(ROUTER);
    t.write("station/probe.send_probe").unwrap();
    t.run_for(Duration::from_millis(50));
    assert!(t.read("station/scan.scan").starts_with("02-00-00-00-00-03 channel 3 rssi 0 ssid home"));
    t.write("station/wi.bssid 2:0:0:0:0:3").unwrap();
    t.write("station/auth.send_auth_req").unwrap();
    t.run_for(Duration::from_millis(1));
    assert_eq!(t.printed(), "station/auth :: OpenAuthRequester: auth 0 seq 2 status 0\n");
    assert_eq!(t.read("station/join.associated"), "false\n");
    t.write("station/join.send_assoc_req").unwrap();
    t.run_for(Duration::from_millis(1));
    assert_eq!(t.read("station/join.associated"), "true\n");
    // Probe, authentication and association, each answered; no beacon yet.
    assert_eq!((t.read("up.count"), t.read("down.count")), ("3".into(), "3".into()));
    let frame = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 1];
    t.push("s", 0, [Packet::new(&frame)]);
    assert_eq!(t.bytes("wired"), [frame]);
}
