// One interface of the router.
//   input 0: frames from the network      output 0: IP packets from the network, with Ethernet header
//   input 1: IP packets to send           output 1: ICMP errors about packets that could not be sent
//                                         output 2: frames to the network
elementclass Interface { $color, $ip, $net, $ether, $mtu |
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
        -> options :: IPGWOptions($ip, $ADDRESSES)
        -> FixIPSrc($ip)
        -> ttl :: DecIPTTL
        -> fragments :: IPFragmenter($mtu)
        -> arp
        -> frames
        -> [2] output;

    // What cannot be sent, or by its sender better another way.
    errors :: Null -> [1] output;
    sent_back [1]
        -> neighbour :: IPClassifier(src net $net, -)
        -> ICMPError($ip, redirect, host, $BROADCASTS)
        -> errors;
    neighbour [1] -> Discard;
    options [1] -> ICMPError($ip, parameterproblem, 0, $BROADCASTS) -> errors;
    ttl [1] -> ICMPError($ip, timeexceeded, transit, $BROADCASTS) -> errors;
    fragments [1] -> ICMPError($ip, unreachable, needfrag, $BROADCASTS, PMTU $mtu) -> errors;
}
