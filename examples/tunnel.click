// tunnel.click: one Ethernet out of two, joined by a tunnel of UDP datagrams.
//
//    this site                                                               the other site
//
//    FromDevice --> Queue --> .---------.       any IP network       .---------.
//                             | Socket  | <--- UDP, port $PORT ---> | Socket  |  the same
//    ToDevice <---- Queue <-- '---------'                            '---------'
//
// Every frame that a host here sends leaves the other end's interface as it is, and the other way round: hosts on both
// sides find each other by ARP, get addresses by DHCP and need not know of the tunnel. It runs on one host at each
// site, on an interface without an address of its own, for nothing else is to answer there:
//
//    sudo clickwork run examples/tunnel.click DEVICE=eth1 PEER=203.0.113.2
//    sudo clickwork run examples/tunnel.click DEVICE=eth1 PEER=198.51.100.7      (at the other site)
//
// Datagrams from other addresses than the peer's are dropped. That keeps out mistakes, not attackers: addresses can be
// forged, and frames cross the network in the clear. How many frames went each way:
//
//    sudo clickwork run examples/tunnel.click DEVICE=eth1 PEER=203.0.113.2 -h there.count -h back.count
//
// A full frame does not fit into one packet of an Ethernet on the way, so that it is sent in two fragments. If these
// get lost, give the interfaces of the hosts an MTU of 1400.

define($DEVICE eth1, $PEER 203.0.113.2, $OWN 0.0.0.0, $PORT 4242);

// Whose datagrams are taken.
peer :: StaticIPLookup($PEER/32 0);
anyone :: StaticIPLookup(0.0.0.0/0 0);
Idle -> peer -> anyone -> Discard;

lan_in :: FromDevice($DEVICE, PROMISC true, SNIFFER false)
    -> there :: Counter
    -> Queue(200)
    -> tunnel :: Socket(UDP, $PEER, $PORT, $OWN, $PORT, CLIENT true, ALLOW peer, DENY anyone)
    -> length :: CheckLength(13);

length [0] -> no_frame :: Discard;
length [1] -> back :: Counter -> Queue(200) -> lan_out :: ToDevice($DEVICE);
