// ip-router-live.click: a standards-compliant IP router between two network interfaces (RFC 1812).
//
// This is the router of "The Click modular router" (TOCS 2000), Figure 8, as in ip-router.click, on real interfaces.
// It answers ARP queries and asks its own, checks headers, looks up routes, processes IP options, fragments, sends the
// four ICMP errors of a router, and answers pings. The host that it runs on takes no part: it does not see the packets.
//
//    DEV0                                                             DEV1
//     |                                                                |
//  +--v----------------- eth0 -----------------+   +-------------------v-- eth1 --+
//  | HostEtherFilter                           |   |                              |
//  | Classifier                                |   |                              |
//  |  |   |   |    `- neither ARP nor IP: drop |   |                              |
//  |  |   |  IP ---- Paint(1) -------------------+----  Paint(2) ...              |
//  |  | ARP reply                              | | |                              |
//  | ARP query                                 | v |                              |
//  |  |   |                     Strip, CheckIPHeader --> bad: drop                |
//  |  |   |                               GetIPAddress                            |
//  |  |   |                              StaticIPLookup                           |
//  |  |   |                       .--------- 1  0  2 ------------> ... eth1       |
//  |  |   |                DropBroadcasts  |    |    |                            |
//  |  |   |                 PaintTee ---------- | ---- sent back: redirect        |
//  |  |   |                IPGWOptions -------- | ---- parameter problem          |
//  |  |   |                  FixIPSrc      |    |    |                            |
//  |  |   |                  DecIPTTL --------- | ---- time exceeded              |
//  |  |   |                IPFragmenter ------- | ---- fragmentation needed       |
//  |  |   `--> ARPQuerier <-----'          |    |    |   `-> ICMPError -> lookup  |
//  | ARPResponder  |                       |    |    |                            |
//  +-----`----+----'-----------------------+    |    +-----------------+----------+
//           Queue                         IPClassifier               Queue
//             |                                 |                      |
//           DEV0                       ICMPPingResponder             DEV1
//
// Run it as root on two interfaces that have no IP address of their own ('ip addr flush dev eth0'), as the gateway of
// the hosts on both sides:
//
//    clickwork run examples/ip-router-live.click GATEWAY=10.1.0.2 \
//        DEV0=eth0 ETHER0=eth0 IP0=10.0.0.1 NET0=10.0.0.0/24 BROADCAST0=10.0.0.255 \
//        DEV1=eth1 ETHER1=eth1 IP1=10.1.0.1 NET1=10.1.0.0/24 BROADCAST1=10.1.0.255
//
// ETHER0=eth0 stands for the Ethernet address of the interface eth0. 'clickwork demo --live' shows the router at work
// between hosts that it makes for that purpose.

define(
  $DEV0 eth0, $ETHER0 02:00:00:0c:00:01, $IP0 10.0.0.1, $NET0 10.0.0.0/24, $BROADCAST0 10.0.0.255, $MTU0 1500,
  $DEV1 eth1, $ETHER1 02:00:00:0c:00:02, $IP1 10.1.0.1, $NET1 10.1.0.0/24, $BROADCAST1 10.1.0.255, $MTU1 1500,
  $GATEWAY 10.1.0.2                     // on network 1, for everything else
);

// One interface of the router.
//   input 0: frames from the network      output 0: IP packets from the network, with Ethernet header
//   input 1: IP packets to send           output 1: ICMP errors about packets that could not be sent
//                                         output 2: frames to the network
elementclass Interface { $color, $ip, $ether, $mtu, $other_ip, $not_hosts |
    // From the network.
    input
        -> HostEtherFilter($ether)
        -> kind :: Classifier(12/0800,              // IP
                              12/0806 20/0001,      // ARP queries
                              12/0806 20/0002,      // ARP replies
                              -);
    kind [0] -> Paint($color) -> output;
    kind [1] -> ARPResponder($ip $ether) -> frames :: Null;
    kind [2] -> [1] arp :: ARPQuerier($ip, $ether);
    kind [3] -> unknown_protocol :: Discard;

    // To the network.
    input [1]
        -> DropBroadcasts
        -> sent_back :: PaintTee($color)
        -> options :: IPGWOptions($ip, $other_ip)
        -> FixIPSrc($ip)
        -> ttl :: DecIPTTL
        -> fragments :: IPFragmenter($mtu)
        -> arp
        -> frames
        -> [2] output;

    // What cannot be sent, or better another way.
    errors :: Null -> [1] output;
    sent_back [1] -> ICMPError($ip, redirect, host, $not_hosts) -> errors;
    options [1] -> ICMPError($ip, parameterproblem, 0, $not_hosts) -> errors;
    ttl [1] -> ICMPError($ip, timeexceeded, transit, $not_hosts) -> errors;
    fragments [1] -> ICMPError($ip, unreachable, needfrag, $not_hosts, PMTU $mtu) -> errors;
}

eth0 :: Interface(1, $IP0, $ETHER0, $MTU0, $IP1, $BROADCAST0 $BROADCAST1);
eth1 :: Interface(2, $IP1, $ETHER1, $MTU1, $IP0, $BROADCAST0 $BROADCAST1);

// SNIFFER false: the host does not answer as well. PROMISC true: $ETHER0 need not be the interface's own address.
from0 :: FromDevice($DEV0, PROMISC true, SNIFFER false) -> eth0;
from1 :: FromDevice($DEV1, PROMISC true, SNIFFER false) -> eth1;
eth0 [2] -> Queue(1000) -> to0 :: ToDevice($DEV0);
eth1 [2] -> Queue(1000) -> to1 :: ToDevice($DEV1);

// Every IP packet, from the network or made here, finds its way by the routing table.
routes :: StaticIPLookup($IP0/32 0, $IP1/32 0, $BROADCAST0/32 0, $BROADCAST1/32 0, 255.255.255.255/32 0,
                         $NET0 1, $NET1 2,
                         0.0.0.0/0 $GATEWAY 2);

received :: Strip(14) -> CheckIPHeader(INTERFACES $IP0/24 $IP1/24) -> GetIPAddress(16) -> routes;
eth0 -> received;
eth1 -> received;

routes [1] -> [1] eth0;
routes [2] -> [1] eth1;
eth0 [1] -> routes;
eth1 [1] -> routes;

// Packets for the router itself: it answers pings.
routes [0] -> mine :: IPClassifier(icmp type echo and (dst host $IP0 or dst host $IP1), -);
mine [0] -> ICMPPingResponder -> routes;
mine [1] -> Discard;
