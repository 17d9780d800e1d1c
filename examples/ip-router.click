// ip-router.click: a standards-compliant IP router between two networks (RFC 1812).
//
// This is the router of "The Click modular router" (TOCS 2000), Figure 8, with nothing left out: it answers ARP queries
// and asks its own, checks headers, looks up routes, processes IP options, fragments, sends the four ICMP errors of a
// router, and answers pings. It reads what each network sends from a capture and writes what it sends to a capture.
//
//    IN0 --> HostEtherFilter --> Classifier --ARP query--> ARPResponder ----------> Queue --> OUT0
//                                 | | |                                               ^
//                        other ---' | '-----ARP reply--> ARPQuerier (A) --------------'
//                          |        IP
//                       Discard     v
//                                Paint(1)               IN1 and OUT1 likewise, painted 2
//                                   |
//                                   v
//                                 Strip --> CheckIPHeader --> GetIPAddress --> StaticIPLookup (B)
//                                                                               0 |  1 |   2 |
//       HOST <-- others -- IPClassifier <-----------------------------------------'    |     |
//                               '-- pings --> ICMPPingResponder --> (B)                |   to OUT1,
//                                                                                      v   likewise
//    (A) <-- IPFragmenter <-- DecIPTTL <-- FixIPSrc <-- IPGWOptions <-- PaintTee <-- DropBroadcasts
//                 |              |                          |              |
//           too long, must    expired                  bad option     leaves where
//           not be cut           |                          |            it came
//                 '--------------+-----------.--------------+--------------'
//                                            v
//                                        ICMPError --> (B)
//
// Run it on captures of your own, or on those of the demonstration, which 'clickwork demo' leaves:
//
//    clickwork run examples/ip-router.click IN0=clickwork-demo/in0.pcap IN1=clickwork-demo/in1.pcap
//
// To route between real networks, see ip-router-live.click.

define(
  $IN0 in0.pcap, $OUT0 out0.pcap,       // what the hosts of network 0 send, and what they get
  $IN1 in1.pcap, $OUT1 out1.pcap,       // the same of network 1
  $HOST host.pcap,                      // packets for the router's own host, as raw IP

  $IP0 10.0.0.1, $ETHER0 00:00:0c:00:00:01, $NET0 10.0.0.0/24, $BROADCAST0 10.0.0.255,
  $IP1 10.1.0.1, $ETHER1 00:00:0c:00:00:02, $NET1 10.1.0.0/24, $BROADCAST1 10.1.0.255,
  $GATEWAY 10.1.0.2,                    // on network 1, for everything else
  $MTU 1500
);

// One interface of the router.
//   input 0: frames from the network      output 0: IP packets from the network, with Ethernet header
//   input 1: IP packets to send           output 1: ICMP errors about packets that could not be sent
//                                         output 2: frames to the network
elementclass Interface { $color, $ip, $ether, $other_ip, $not_hosts |
    // From the network.
    input
        -> HostEtherFilter($ether)
        -> kind :: Classifier(12/0806 20/0001,      // ARP queries
                              12/0806 20/0002,      // ARP replies
                              12/0800,              // IP
                              -);
    kind [0] -> ARPResponder($ip $ether) -> frames :: Null;
    kind [1] -> [1] arp :: ARPQuerier($ip, $ether);
    kind [2] -> Paint($color) -> output;
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

    // What cannot be sent, or better another way.
    errors :: Null -> [1] output;
    sent_back [1] -> ICMPError($ip, redirect, host, $not_hosts) -> errors;
    options [1] -> ICMPError($ip, parameterproblem, 0, $not_hosts) -> errors;
    ttl [1] -> ICMPError($ip, timeexceeded, transit, $not_hosts) -> errors;
    fragments [1] -> ICMPError($ip, unreachable, needfrag, $not_hosts, PMTU $MTU) -> errors;
}

eth0 :: Interface(1, $IP0, $ETHER0, $IP1, $BROADCAST0 $BROADCAST1);
eth1 :: Interface(2, $IP1, $ETHER1, $IP0, $BROADCAST0 $BROADCAST1);

FromDump($IN0, TIMING true, STOP true) -> eth0;
FromDump($IN1, TIMING true, STOP true) -> eth1;
eth0 [2] -> Queue(200) -> ToDump($OUT0);
eth1 [2] -> Queue(200) -> ToDump($OUT1);

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

// Packets for the router itself: it answers pings that come in one piece, and leaves the rest to its host.
routes [0]
    -> mine :: IPClassifier(icmp type echo and ip unfrag and (dst host $IP0 or dst host $IP1), -);
mine [0] -> ICMPPingResponder -> routes;
mine [1] -> ToDump($HOST, ENCAP IP);

// Stop when both captures have been read and everything has been sent.
DriverManager(wait_stop 2, wait 0.1s, stop);
