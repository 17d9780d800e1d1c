// ip6-router.click: an IPv6 router between two network interfaces.
//
// It answers neighbour solicitations and sends its own (RFC 4861), checks headers, looks up routes, lowers hop limits,
// sends the ICMPv6 errors of a router (RFC 4443) and redirects, and answers pings. It fragments nothing: who sends a
// packet that is too long for the next link hears the length that fits (RFC 8200 §5). What is for one link alone,
// link-local and multicast addresses, stays there (RFC 4291 §2.5.6). The host that it runs on takes no part.
//
//    DEV0                                                             DEV1
//     |                                                                |
//  +--v----------------- eth0 -----------------+   +-------------------v-- eth1 --+
//  | HostEtherFilter                           |   |                              |
//  | Classifier --- multicast: drop            |   |                              |
//  |  |  |   |  `-- link-local: answered here   |   |                              |
//  |  |  |  IPv6 ---- Paint(1) ------------------------  Paint(2) ...              |
//  |  | advertisement                          | | |                              |
//  | solicitation                              | v |                              |
//  |  |  |                     Strip, CheckIP6Header --> bad: drop                 |
//  |  |  |                              GetIP6Address                              |
//  |  |  |                             LookupIP6Route ------ 3: no route           |
//  |  |  |                      .--------- 1  0  2 ------------> ... eth1          |
//  |  |  |               DropBroadcasts  |    |    |                               |
//  |  |  |                PaintTee ---------- | ---- sent back: redirect           |
//  |  |  |               DecIP6HLIM --------- | ---- time exceeded                 |
//  |  |  |              IP6Fragmenter ------- | ---- packet too big                |
//  |  |  `-> IP6NDSolicitor <---'        |    |    |   `-> ICMP6Error -> lookup    |
//  | IP6NDAdvertiser  |                  |    |    |                               |
//  +-----`-----+------'------------------+    |    +-----------------+-------------+
//           Queue                    ICMP6PingResponder            Queue
//             |                               |                      |
//           DEV0                         (the lookup)              DEV1
//
// Run it as root on two interfaces that have no IPv6 address of their own, as the gateway of the hosts on both sides:
//
//    clickwork run examples/ip6-router.click GATEWAY=2001:db8:1::2 \
//        DEV0=eth0 ETHER0=eth0 IP0=2001:db8::1 NET0=2001:db8::/64 \
//        DEV1=eth1 ETHER1=eth1 IP1=2001:db8:1::1 NET1=2001:db8:1::/64
//
// ETHER0=eth0 stands for the Ethernet address of the interface eth0. Hosts need an address of their network and a
// default route by IP0, IP1, or LINK0, LINK1: the router sends no router advertisements.

define(
  $DEV0 eth0, $ETHER0 02:00:00:0c:00:01, $IP0 2001:db8::1, $NET0 2001:db8::/64, $LINK0 fe80::1, $MTU0 1500,
  $DEV1 eth1, $ETHER1 02:00:00:0c:00:02, $IP1 2001:db8:1::1, $NET1 2001:db8:1::/64, $LINK1 fe80::1, $MTU1 1500,
  $GATEWAY 2001:db8:1::2,               // on network 1, for all other global addresses
  $ERRORS 1000                          // ICMPv6 errors a second
);

// An ICMPv6 error, from the address of the interface that the packet came in by. $mtu is for packet too big.
elementclass Error { $type, $code, $mtu |
    input -> came_by :: PaintSwitch;
    came_by [0] -> Discard; // it was made here
    came_by [1] -> ICMP6Error($IP0, $type, $code, PMTU $mtu, MTU 1280) -> output;
    came_by [2] -> ICMP6Error($IP1, $type, $code, PMTU $mtu, MTU 1280) -> output;
}

// One interface of the router.
//   input 0: frames from the network      output 0: IPv6 packets from the network, with Ethernet header
//   input 1: IPv6 packets to send         output 1: ICMPv6 errors about packets that could not be sent
//                                         output 2: frames to the network
elementclass Interface { $color, $ip, $link, $ether, $mtu |
    // From the network.
    input
        -> HostEtherFilter($ether)
        -> kind :: Classifier(12/86dd 20/3a 54/87,  // neighbour solicitations
                              12/86dd 20/3a 54/88,  // neighbour advertisements
                              12/86dd 38/ff,        // to a multicast group
                              12/86dd 22/ff,        // from one
                              12/86dd 22/fe80%ffc0, // from a link-local address
                              12/86dd 38/fe80%ffc0, // to one
                              12/86dd,              // other IPv6
                              -);
    kind [0] -> IP6NDAdvertiser($ip $link $ether) -> frames :: Null;
    kind [1] -> [1] neighbours :: IP6NDSolicitor($ip, $ether);
    kind [2] -> Discard;
    kind [3] -> Discard;
    kind [4] -> local :: Null;
    kind [5] -> local;
    kind [6] -> Paint($color) -> output;
    kind [7] -> unknown_protocol :: Discard;

    // What must not leave its link: pings for the router are answered, the rest is beyond the scope of its addresses.
    local
        -> Strip(14)
        -> CheckIP6Header(::)
        -> GetIP6Address(24)
        -> to_me :: LookupIP6Route($link 0, $ip 0, ::/0 1);
    to_me [0] -> ICMP6PingResponder -> neighbours;
    to_me [1] -> ICMP6Error($ip, 1, 2) -> few :: RatedSplitter($ERRORS) -> neighbours;
    few [1] -> Discard;

    // To the network.
    input [1]
        -> DropBroadcasts
        -> sent_back :: PaintTee($color)
        -> hops :: DecIP6HLIM
        -> length :: IP6Fragmenter($mtu)
        -> neighbours
        -> frames
        -> [2] output;

    // A redirect must arrive with a hop limit of 255, and its receiver is on this link.
    sent_back [1] -> ICMP6Error($link, 137, 0) -> few;

    // What cannot be sent.
    errors :: Null -> [1] output;
    hops [1] -> Error(3, 0, 0) -> errors;
    length [1] -> Error(2, 0, $mtu) -> errors;
}

eth0 :: Interface(1, $IP0, $LINK0, $ETHER0, $MTU0);
eth1 :: Interface(2, $IP1, $LINK1, $ETHER1, $MTU1);

// SNIFFER false: the host does not answer as well. PROMISC true: $ETHER0 need not be the interface's own address.
from0 :: FromDevice($DEV0, PROMISC true, SNIFFER false) -> eth0;
from1 :: FromDevice($DEV1, PROMISC true, SNIFFER false) -> eth1;
eth0 [2] -> Queue(1000) -> to0 :: ToDevice($DEV0);
eth1 [2] -> Queue(1000) -> to1 :: ToDevice($DEV1);

// Every IPv6 packet, from the network or made here, finds its way by the routing table.
routes :: LookupIP6Route($IP0 0, $IP1 0, $NET0 1, $NET1 2, 2000::/3 $GATEWAY 2, ::/0 3);

received :: Strip(14) -> CheckIP6Header(:: ::1) -> GetIP6Address(24) -> routes;
eth0 -> received;
eth1 -> received;

routes [1] -> [1] eth0;
routes [2] -> [1] eth1;

// Errors are sent at a limited rate (RFC 4443 §2.4 f).
errors :: RatedSplitter($ERRORS) -> routes;
errors [1] -> Discard;
eth0 [1] -> errors;
eth1 [1] -> errors;
routes [3] -> Error(1, 0, 0) -> errors;

// Packets for the router itself: it answers pings, and tells who sends datagrams that nobody listens.
routes [0] -> pings :: ICMP6PingResponder -> routes;
pings [1] -> others :: Classifier(6/11, -);
others [0] -> Error(1, 4, 0) -> errors;
others [1] -> Discard;
