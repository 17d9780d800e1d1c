// firewall.click: a firewall between two networks, without address translation.
//
// It stands in a cable: hosts on both sides see each other's Ethernet addresses and need not know of it. From inside
// everything may go out but mail past the mail server. From outside come only answers, visitors of the web server, and
// secure shell from one network. What is refused is written to a capture.
//
//    inside                                                                  outside
//
//    FromDevice -> Classifier --IP--> CheckIPHeader -> IPFilter --> Queue -> ToDevice
//                      |                                   |          ^
//                      |                                refused       |
//                      '---ARP---------------------------- | ---------'
//                                                          v
//                                                        ToDump
//                                                          ^
//                      .----------------------------ARP--- | ---------.
//                      |                                refused       |
//                      v                                   |          |
//    ToDevice <---- Queue <--- IPFilter <- CheckIPHeader <-- IP -- Classifier <- FromDevice
//
// Run it on a host with two network interfaces that have no addresses of their own:
//
//    sudo clickwork run examples/firewall.click INSIDE=eth0 OUTSIDE=eth1
//
// 'clickwork doc IPFilter' explains the rules: the first that matches a packet decides.

define($INSIDE eth0, $OUTSIDE eth1, $REFUSED refused.pcap);

AddressInfo(
  our_net    192.0.2.0/24,
  web_server 192.0.2.80,
  mail_server 192.0.2.25,
  friends    198.51.100.0/24
);

// Sorts frames; IP packets leave by output 0 if the rules allow it, by output 1 otherwise. Output 2 is for ARP.
elementclass Checkpoint {
    input -> kind :: Classifier(12/0800, 12/0806, -);
    kind [0] -> CheckIPHeader(OFFSET 14) -> output;
    kind [1] -> [1] output;
    kind [2] -> strange :: Discard;
}

// The rules: "allow" is output 0, "1" is output 1.
outward :: IPFilter(
  1     not src net our_net,                                 // forged sources
  allow src host mail_server,
  1     tcp dst port 25,                                     // mail goes by the mail server
  allow all
);

inward :: IPFilter(
  1     src net our_net,                                     // forged sources
  allow tcp and dst host web_server and dst port 80 or 443,
  allow tcp and src net friends and dst port 22,
  allow tcp opt ack,                                         // answers to connections from inside
  allow udp and src port 53 and dst port >= 1024,            // answers to name queries
  allow icmp type echo-reply,
  allow icmp type unreachable or timeexceeded or parameterproblem,
  1     all
);

to_outside :: Queue(1000) -> ToDevice($OUTSIDE);
to_inside :: Queue(1000) -> ToDevice($INSIDE);
refused :: ToDump($REFUSED);

FromDevice($INSIDE, PROMISC true, SNIFFER false)
    -> from_inside :: Checkpoint
    -> outward
    -> to_outside;
FromDevice($OUTSIDE, PROMISC true, SNIFFER false)
    -> from_outside :: Checkpoint
    -> inward
    -> to_inside;

from_inside [1] -> to_outside;
from_outside [1] -> to_inside;
outward [1] -> refused;
inward [1] -> refused;
