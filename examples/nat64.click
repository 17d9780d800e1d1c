// nat64.click: hosts that have IPv6 only reach hosts that have IPv4 only (RFC 6146, RFC 6052).
//
// The IPv6 hosts are on the interface DEV0. They reach the IPv4 host 192.0.2.9 by the address 64:ff9b::192.0.2.9: the
// prefix 64:ff9b::/96 leads here, where each flow gets a port of the router's own IPv4 address on DEV1, and its packets
// are translated to IPv4. Answers come back the same way, and errors about what was sent. Nothing else reaches the IPv6
// hosts. Fragments that they send are not translated: TCP sends none, and datagrams should fit.
//
//   DEV0 --> Classifier --solicitation--> IP6NDAdvertiser ---------------------> Queue --> DEV0
//    IPv6      |     '---advertisement--> IP6NDSolicitor <---------------.        ^
//              v                               '-------------------------|--------'
//         CheckIP6Header --> DecIP6HLIM --expired--> ICMP6Error --> (IP6NDSolicitor)
//              |                                                         |
//              v 64:ff9b::/96                                            |
//         AddressTranslator --> ProtocolTranslator64 --.                 |
//              |   ^                                   v                 |
//              |   '--- ProtocolTranslator46       StaticIPLookup        |
//              '-----------------|-----------------------|---------------'
//                                |                       v
//         DecIPTTL --------------'                  ARPQuerier --> Queue --> DEV1
//              ^                                         ^
//         IPReassembler <-- CheckIPHeader <-- Classifier --ARP reply   DEV1 --> (Classifier)
//                                                  '--ARP query--> ARPResponder --> Queue  IPv4
//
// Run it as root on two interfaces without addresses of their own; the IPv6 hosts have a route to 64:ff9b::/96 by IP0:
//
//    clickwork run examples/nat64.click DEV0=eth0 ETHER0=eth0 IP0=2001:db8::1 NET0=2001:db8::/64 \
//        DEV1=eth1 ETHER1=eth1 IP1=192.0.2.1 NET1=192.0.2.0/24 GATEWAY=192.0.2.254

define(
  $DEV0 eth0, $ETHER0 02:00:00:0c:00:01, $IP0 2001:db8::1, $NET0 2001:db8::/64, $LINK0 fe80::1,
  $DEV1 eth1, $ETHER1 02:00:00:0c:00:02, $IP1 192.0.2.1, $NET1 192.0.2.0/24, $GATEWAY 192.0.2.254,
  $PREFIX 64:ff9b::
);

from0 :: FromDevice($DEV0, PROMISC true, SNIFFER false);
from1 :: FromDevice($DEV1, PROMISC true, SNIFFER false);
out0 :: Queue(1000) -> to0 :: ToDevice($DEV0);
out1 :: Queue(1000) -> to1 :: ToDevice($DEV1);

// The IPv6 side.
neighbours :: IP6NDSolicitor($IP0, $ETHER0) -> out0;
from0
    -> HostEtherFilter($ETHER0)
    -> kind0 :: Classifier(12/86dd 20/3a 54/87, 12/86dd 20/3a 54/88, 12/86dd 38/ff, 12/86dd, -);
kind0 [0] -> IP6NDAdvertiser($IP0 $LINK0 $ETHER0) -> out0;
kind0 [1] -> [1] neighbours;
kind0 [2] -> Discard;
kind0 [3]
    -> Strip(14)
    -> CheckIP6Header(:: ::1)
    -> GetIP6Address(24)
    -> routes0 :: LookupIP6Route($IP0 0, $LINK0 0, $PREFIX/96 1, ::/0 2);
kind0 [4] -> Discard;
routes0 [0] -> ICMP6PingResponder -> neighbours;
routes0 [1]
    -> hops :: DecIP6HLIM
    -> nat :: AddressTranslator(0, true, true, false, $PREFIX$IP1 1024 65535);
routes0 [2] -> ICMP6Error($IP0, 1, 0) -> few0 :: RatedSplitter(1000) -> neighbours;
hops [1] -> ICMP6Error($IP0, 3, 0) -> few0;
few0 [1] -> Discard;

// Between them. The IPv6 header is 20 bytes longer than the IPv4 header: packets that must not be fragmented have to be
// shorter, others are fragmented as IPv6 packets.
nat
    -> ProtocolTranslator64(PREFIX $PREFIX/96)
    -> routes1 :: StaticIPLookup($NET1 0, 0.0.0.0/0 $GATEWAY 0);
to6 :: DecIPTTL -> whole :: Classifier(6/40%40, -);
whole [0]
    -> short :: IPFragmenter(1480)
    -> translate :: ProtocolTranslator46(PREFIX $PREFIX/96)
    -> [1] nat;
whole [1] -> translate;
nat [1]
    -> inside :: LookupIP6Route($NET0 0, ::/0 1)
    -> IP6Fragmenter(1500, FRAGMENT true)
    -> neighbours;
inside [1] -> Discard;
to6 [1] -> ICMPError($IP1, timeexceeded, transit) -> few1 :: RatedSplitter(1000) -> routes1;
short [1] -> ICMPError($IP1, unreachable, needfrag, PMTU 1480) -> few1;
few1 [1] -> Discard;

// The IPv4 side.
routes1 -> arp :: ARPQuerier($IP1, $ETHER1) -> out1;
from1
    -> HostEtherFilter($ETHER1)
    -> kind1 :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
kind1 [0] -> ARPResponder($IP1 $ETHER1) -> out1;
kind1 [1] -> [1] arp;
kind1 [2]
    -> Strip(14)
    -> CheckIPHeader(INTERFACES $IP1/24)
    -> IPReassembler
    -> mine :: IPClassifier(dst host $IP1 and icmp type echo, dst host $IP1, -);
kind1 [3] -> Discard;
mine [0] -> ICMPPingResponder -> routes1;
mine [1] -> to6;
mine [2] -> Discard;
