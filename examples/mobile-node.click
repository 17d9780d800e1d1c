// mobile-node.click: a mobile host away from home, which keeps its address there.
//
// The other end of the tunnel of mobile-home.click ("The Click modular router", TOCS 2000, Figures 13 and 14). The host
// has a tunnel interface with its home address, which its programs use as if they were at home. What they send goes in
// an IP-in-IP tunnel (RFC 2003) to the home node, and what the home node sends after the host comes out of it. The host
// itself has no address on the foreign network: the care-of address is only used here.
//
//    FromDevice -> HostEtherFilter -> Classifier --ARP query--> ARPResponder --------> Queue -> ToDevice
//                                        |   '-----ARP reply--------------.              ^
//                                        v                                v              |
//    KernelTun <- CheckIPHeader <- StripIPHeader <- IPClassifier      ARPQuerier --------'
//        |                                                                ^
//        '-----------------> IPEncap -> SetIPAddress ---------------------'
//
// Run it as root, where the mobile host is, on an interface that has no IP address of its own:
//
//    clickwork run examples/mobile-node.click DEV=eth0 ETHER=eth0 CARE_OF=10.7.0.9 GATEWAY=10.7.0.1
//
// and tell the home node:  clickwork ctl 7777 write moved.run 10.7.0.9  (see mobile-home.click).

define(
  $DEV eth0, $ETHER 02:00:00:0c:00:09,
  $CARE_OF 10.7.0.9, $GATEWAY 10.7.0.1,         // on the foreign network
  $HOME 10.0.0.99/24, $HOME_NODE 10.0.0.1,      // at home; all that the host sends goes to the home node
  $TUN home0, $MTU 1480                         // an IP header less than the foreign network's
);

FromDevice($DEV, PROMISC true, SNIFFER false)
    -> HostEtherFilter($ETHER)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
kind [0] -> ARPResponder($CARE_OF $ETHER) -> queue :: Queue(1000) -> ToDevice($DEV);
kind [1] -> [1] arp :: ARPQuerier($CARE_OF, $ETHER) -> queue;
kind [3] -> Discard;

// Out of the tunnel, if the home node sent it.
kind [2]
    -> Strip(14)
    -> CheckIPHeader
    -> IPReassembler
    -> from_home :: IPClassifier(ip proto 4 and src host $HOME_NODE and dst host $CARE_OF, -)
    -> StripIPHeader
    -> CheckIPHeader
    -> received :: Counter
    -> host :: KernelTun($HOME, $HOME_NODE, MTU $MTU, DEVNAME $TUN);
from_home [1] -> Discard;

// Into the tunnel.
host
    -> sent :: Counter
    -> IPEncap(4, $CARE_OF, $HOME_NODE)
    -> SetIPAddress($GATEWAY)
    -> arp;
