// The two-interface IP router of TOCS 2000 Figure 8, fed from memory with 64-byte UDP packets, eth0 to eth1.
c0 :: StaticSwitch(2); c1 :: StaticSwitch(2);
SOURCE -> c0; Idle -> c1;
out0 :: Queue(1024) -> Discard(BURST 64); out1 :: Queue(1024) -> cnt :: Counter -> Discard(BURST 64);
ar0 :: ARPResponder(10.0.0.1 00:00:0c:00:00:01); ar1 :: ARPResponder(10.1.0.1 00:00:0c:00:00:02);
c0[0] -> ar0 -> out0; c1[0] -> ar1 -> out1;
arpq0 :: ARPQuerier(10.0.0.1, 00:00:0c:00:00:01) -> out0; arpq1 :: ARPQuerier(10.1.0.1, 00:00:0c:00:00:02) -> out1;
c0[1] -> [1]arpq0; c1[1] -> [1]arpq1;
rt :: StaticIPLookup(10.0.0.1/32 0, 10.1.0.1/32 0, 10.0.0.255/32 0, 10.1.0.255/32 0, 10.0.0.0/24 1, 10.1.0.0/24 2, 255.255.255.255/32 0, 0.0.0.0/0 10.1.0.2 2);
ip :: Strip(14) -> CheckIPHeader(INTERFACES 10.0.0.1/24 10.1.0.1/24) -> GetIPAddress(16) -> rt;
c0[2] -> Paint(1) -> ip; c1[2] -> Paint(2) -> ip;
c0[3] -> Discard; c1[3] -> Discard;
rt[0] -> Discard;
rt[1] -> DropBroadcasts -> cp0 :: PaintTee(1) -> gio0 :: IPGWOptions(10.0.0.1) -> FixIPSrc(10.0.0.1) -> dt0 :: DecIPTTL -> fr0 :: IPFragmenter(1500) -> [0]arpq0;
rt[2] -> DropBroadcasts -> cp1 :: PaintTee(2) -> gio1 :: IPGWOptions(10.1.0.1) -> FixIPSrc(10.1.0.1) -> dt1 :: DecIPTTL -> fr1 :: IPFragmenter(1500) -> [0]arpq1;
dt0[1] -> ICMPError(10.0.0.1, timeexceeded) -> rt; dt1[1] -> ICMPError(10.1.0.1, timeexceeded) -> rt;
fr0[1] -> ICMPError(10.0.0.1, unreachable, needfrag) -> rt; fr1[1] -> ICMPError(10.1.0.1, unreachable, needfrag) -> rt;
gio0[1] -> ICMPError(10.0.0.1, parameterproblem) -> rt; gio1[1] -> ICMPError(10.1.0.1, parameterproblem) -> rt;
cp0[1] -> ICMPError(10.0.0.1, redirect, host) -> rt; cp1[1] -> ICMPError(10.1.0.1, redirect, host) -> rt;
