// mobile-home.click: the home node of a mobile host: a router that sends packets after a host that has moved away.
//
// The home node of "The Click modular router" (TOCS 2000), Figures 13 and 14. It is the IP router between the home
// network and the others. While the mobile host is at home, it does no more than that. When the host has gone, the home
// node answers ARP queries for it, and sends what comes for it through an IP-in-IP tunnel (RFC 2003) to its address
// abroad, the care-of address; there mobile-node.click takes it out. What the mobile host sends comes back through the
// tunnel.
//
//    correspondents ------ HOME_DEV  home node  OUT_DEV ------ GATEWAY ... care-of address, mobile-node.click
//        (mobile host)                  ================================>
//
//    home :: Interface --> received --> routes --3--> place --> (at home) home
//      | ARP query for others             |  \          |
//      v                                  0   1, 2      '-----> DecIPTTL -> IPFragmenter -> IPEncap -> outer -> out
//    proxy --> ARPResponder --> home      |    \              (away)                        tunnel
//                                         v     home, out
//             routes <--- StripIPHeader --- pings and tunnelled packets
//
// Run it as root, on two interfaces that have no IP address of their own ('ip addr flush dev eth0'):
//
//    clickwork run examples/mobile-home.click -p 7777 HOME_DEV=eth0 HOME_ETHER=eth0 OUT_DEV=eth1 OUT_ETHER=eth1
//
// Then say where the mobile host is, when it goes to 10.7.0.9, and when it has come back:
//
//    clickwork ctl 7777 write moved.run 10.7.0.9
//    clickwork ctl 7777 write returned.run
//
// Who may say so is a matter of who can reach the control socket.

define(
  $HOME_DEV eth0, $HOME_ETHER 02:00:00:0c:00:01,
  $HOME_IP 10.0.0.1, $HOME_NET 10.0.0.0/24, $HOME_BROADCAST 10.0.0.255,
  $OUT_DEV eth1, $OUT_ETHER 02:00:00:0c:00:02,
  $OUT_IP 10.7.0.1, $OUT_NET 10.7.0.0/24, $OUT_BROADCAST 10.7.0.255,
  $GATEWAY 10.7.0.254,                  // on the network of OUT_DEV, for everything else
  $MOBILE 10.0.0.99,                    // the mobile host's address at home
  $MTU 1500, $TUNNEL_MTU 1480           // an IP header less
);

// One interface of the router.
//   input 0: frames from the network      output 0: IP packets from the network, with Ethernet header
//   input 1: IP packets to send           output 1: ICMP errors about packets that could not be sent
//   input 2: frames to send               output 2: frames to the network
//                                         output 3: ARP queries for others
elementclass Interface { $color, $ip, $ether, $other_ip |
    // From the network.
    input
        -> HostEtherFilter($ether)
        -> kind :: Classifier(12/0800,              // IP
                              12/0806 20/0001,      // ARP queries
                              12/0806 20/0002,      // ARP replies
                              -);
    kind [0] -> Paint($color) -> output;
    kind [1] -> own :: ARPResponder($ip $ether) -> frames :: Null;
    own [1] -> [3] output;
    kind [2] -> [1] arp :: ARPQuerier($ip, $ether);
    kind [3] -> unknown_protocol :: Discard;

    // To the network.
    input [1]
        -> DropBroadcasts
        -> sent_back :: PaintTee($color)
        -> options :: IPGWOptions($ip, $other_ip)
        -> FixIPSrc($ip)
        -> ttl :: DecIPTTL
        -> fragments :: IPFragmenter($MTU)
        -> arp
        -> frames
        -> [2] output;
    input [2] -> frames;

    // What cannot be sent, or better another way.
    errors :: Null -> [1] output;
    sent_back [1] -> ICMPError($ip, redirect, host, $HOME_BROADCAST $OUT_BROADCAST) -> errors;
    options [1] -> ICMPError($ip, parameterproblem, 0, $HOME_BROADCAST $OUT_BROADCAST) -> errors;
    ttl [1] -> ICMPError($ip, timeexceeded, transit, $HOME_BROADCAST $OUT_BROADCAST) -> errors;
    fragments [1]
        -> ICMPError($ip, unreachable, needfrag, $HOME_BROADCAST $OUT_BROADCAST, PMTU $MTU)
        -> errors;
}

home :: Interface(1, $HOME_IP, $HOME_ETHER, $OUT_IP);
out :: Interface(2, $OUT_IP, $OUT_ETHER, $HOME_IP);

FromDevice($HOME_DEV, PROMISC true, SNIFFER false) -> home;
FromDevice($OUT_DEV, PROMISC true, SNIFFER false) -> out;
home [2] -> Queue(1000) -> ToDevice($HOME_DEV);
out [2] -> Queue(1000) -> ToDevice($OUT_DEV);

// Every IP packet finds its way by the routing table; those for the mobile host according to where it is.
routes :: StaticIPLookup($HOME_IP/32 0, $OUT_IP/32 0,
                         $HOME_BROADCAST/32 0, $OUT_BROADCAST/32 0, 255.255.255.255/32 0, 224.0.0.0/4 0,
                         $HOME_NET 1, $OUT_NET 2, 0.0.0.0/0 $GATEWAY 2,
                         $MOBILE/32 3);
received :: Strip(14)
    -> CheckIPHeader(INTERFACES $HOME_IP/24 $OUT_IP/24)
    -> GetIPAddress(16)
    -> routes;
home -> received;
out -> received;
routes [1] -> [1] home;
routes [2] -> [1] out;
home [1] -> routes;
out [1] -> routes;

// At home: as any other host. Away: through the tunnel, whose packets have a table of their own, so that a care-of
// address that is the mobile host's own, or the home node's, makes no circle.
routes [3] -> place :: Switch(0);
place [0] -> [1] home;
place [1]
    -> ttl :: DecIPTTL
    -> short :: IPFragmenter($TUNNEL_MTU)
    -> tunnel :: IPEncap(4, $HOME_IP, 0.0.0.0)
    -> outer :: StaticIPLookup($OUT_NET 0, 0.0.0.0/0 $GATEWAY 0, $HOME_NET 1, $OUT_IP/32 1, 0.0.0.0/8 1);
outer [0] -> [1] out;
outer [1] -> nowhere :: Discard;
ttl [1] -> ICMPError($HOME_IP, timeexceeded, transit, $HOME_BROADCAST $OUT_BROADCAST) -> routes;
short [1]
    -> ICMPError($HOME_IP, unreachable, needfrag, $HOME_BROADCAST $OUT_BROADCAST, PMTU $TUNNEL_MTU)
    -> routes;

// Packets for the home node itself: pings, and what comes out of the tunnel, if the mobile host sent it.
routes [0]
    -> IPReassembler
    -> mine :: IPClassifier(icmp type echo and (dst host $HOME_IP or dst host $OUT_IP),
                            ip proto 4 and dst host $HOME_IP,
                            -);
mine [0] -> ICMPPingResponder -> routes;
mine [1]
    -> StripIPHeader
    -> CheckIPHeader(INTERFACES $HOME_IP/24 $OUT_IP/24)
    -> inner :: IPClassifier(src host $MOBILE, -)
    -> Paint(0) // it may leave where the tunnel comes in
    -> GetIPAddress(16)
    -> routes;
inner [1] -> forged :: Discard;
mine [2] -> Discard;

// Proxy ARP while the host is away, and an announcement to those who know its own Ethernet address: an ARP query of the
// mobile host for itself, some times in two seconds.
home [3] -> proxy :: Switch(-1) -> ARPResponder($MOBILE $HOME_ETHER) -> [2] home;
out [3] -> Discard;
Idle -> [2] out;
announce :: RatedSource(RATE 4, LIMIT 8, ACTIVE false)
    -> SetIPAddress($MOBILE)
    -> announcer :: ARPQuerier($MOBILE, $HOME_ETHER, CAPACITY 1, TIMEOUT 2s)
    -> [2] home;
Idle -> [1] announcer;

moved :: Script(TYPE PASSIVE,
    write tunnel.dst $args,
    goto end $(ne $? 0),                // no address
    write place.switch 1,
    write proxy.switch 0,
    write announce.reset,
    write announce.active true,
    label end);
returned :: Script(TYPE PASSIVE,
    write place.switch 0,
    write proxy.switch -1,
    write announce.active false);
