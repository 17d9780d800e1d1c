// Measures IPv6 forwarding: the counterpart of ip-router-mem.click, a two-interface IPv6 router fed from memory with
// 64-byte UDP packets that go from eth0 to eth1.
//
//   src -> c0 -> Paint -> Strip -> CheckIP6Header -> GetIP6Address -> rt -> DropBroadcasts -> PaintTee -> DecIP6HLIM
//       -> IP6Fragmenter -> IP6NDSolicitor -> Queue -> Counter -> Discard
//
//   clickwork run bench/ip6-router-mem.click N=4000000 -h cnt.count
define($N 4000000, $BURST 32);
c0 :: Classifier(12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
c1 :: Classifier(12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
src :: InfiniteSource(DATA \<00000c000001 00000c0000ff 86dd 60000000 000a 11 40 20010db8000000000000000000000002 20010db8000100000000000000000002 1369 1369 000a7b54 0001>, LIMIT $N, BURST $BURST, STOP true);
src -> [0]c0; Idle -> c1;
out0 :: Queue(1024) -> d0 :: Discard(BURST 32); out1 :: Queue(1024) -> cnt :: Counter -> d1 :: Discard(BURST 32);
na0 :: IP6NDAdvertiser(2001:db8::1 00:00:0c:00:00:01); na1 :: IP6NDAdvertiser(2001:db8:1::1 00:00:0c:00:00:02);
c0[0] -> na0 -> out0; c1[0] -> na1 -> out1;
ns0 :: IP6NDSolicitor(2001:db8::1, 00:00:0c:00:00:01) -> out0; ns1 :: IP6NDSolicitor(2001:db8:1::1, 00:00:0c:00:00:02) -> out1;
c0[1] -> [1]ns0; c1[1] -> [1]ns1;
rt :: LookupIP6Route(2001:db8::1 0, 2001:db8:1::1 0, ff00::/8 0, fe80::/10 0, 2001:db8::/64 1, 2001:db8:1::/64 2, ::1 0, ::/0 2001:db8:1::2 2);
ip :: Strip(14) -> CheckIP6Header(::) -> GetIP6Address(24) -> rt;
c0[2] -> Paint(1) -> ip; c1[2] -> Paint(2) -> ip;
c0[3] -> Discard; c1[3] -> Discard;
rt[0] -> Discard;
rt[1] -> DropBroadcasts -> cp0 :: PaintTee(1) -> dh0 :: DecIP6HLIM -> fr0 :: IP6Fragmenter(1500) -> [0]ns0;
rt[2] -> DropBroadcasts -> cp1 :: PaintTee(2) -> dh1 :: DecIP6HLIM -> fr1 :: IP6Fragmenter(1500) -> [0]ns1;
dh0[1] -> ICMP6Error(2001:db8::1, 3, 0) -> rt; dh1[1] -> ICMP6Error(2001:db8:1::1, 3, 0) -> rt;
fr0[1] -> ICMP6Error(2001:db8::1, 2, 0, PMTU 1500) -> rt; fr1[1] -> ICMP6Error(2001:db8:1::1, 2, 0, PMTU 1500) -> rt;
cp0[1] -> ICMP6Error(2001:db8::1, 137, 0) -> rt; cp1[1] -> ICMP6Error(2001:db8:1::1, 137, 0) -> rt;
Script(write ns1.insert 2001:db8:1::2 00:00:0c:00:00:03, write ns0.insert 2001:db8::2 00:00:0c:00:00:04);
