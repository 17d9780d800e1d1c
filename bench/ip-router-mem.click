// Measures forwarding: the two-interface IP router of TOCS 2000 Figure 8, fed from memory with 64-byte UDP packets
// that go from eth0 to eth1. Used by bench/*.sh and by `cargo bench -p clickwork-elements --bench forwarding`.
//
//   src -> c0 -> Paint -> Strip -> CheckIPHeader -> GetIPAddress -> rt -> DropBroadcasts -> PaintTee -> IPGWOptions
//       -> FixIPSrc -> DecIPTTL -> IPFragmenter -> ARPQuerier -> Queue -> Counter -> Discard
//
//   clickwork run bench/ip-router-mem.click N=4000000 -h cnt.count
define($N 4000000, $BURST 32);
c0 :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
c1 :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
src :: InfiniteSource(DATA \<00000c000001 00000c0000ff 0800 4500002e000000004011 66bb 0a000002 0a010002 1369 1369 001a0000 000102030405060708090a0b0c0d0e0f1011>, LIMIT $N, BURST $BURST, STOP true);
src -> [0]c0; Idle -> c1;
out0 :: Queue(1024) -> d0 :: Discard(BURST 32); out1 :: Queue(1024) -> cnt :: Counter -> d1 :: Discard(BURST 32);
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
Script(write arpq1.insert 10.1.0.2 00:00:0c:00:00:03, write arpq0.insert 10.0.0.2 00:00:0c:00:00:04);
