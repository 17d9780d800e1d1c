// nat-gateway.click: a home's gateway to the Internet: address translation and a stateful firewall.
//
// The home has one address outside. What its hosts send gets that address and a free port, and answers find their way
// back (RFC 3022): TCP, UDP, pings, FTP in its active mode, and ICMP errors about any of it. From outside nothing else
// comes in but visitors of one web server. Addresses that cannot be right are refused on both sides. What the firewall
// knows are the mappings of the rewriters, at most $MAPPINGS; a flood of new ones cannot push out those in use.
//
//      home                                                                            Internet
//
//      LAN -> IPReassembler -> IPClassifier -> DecIPTTL -> IPClassifier
//                                |      |                   |    |    |
//           forged, not out: drop       ping for us:       ftp  tcp  ping
//                                       answer              |   udp   |
//                                              FTPPortMapper|    |    |
//                                                           v    v    v
//      LAN <-- IPFragmenter <---[1]------------------- IPRewriter, ----[0]---> IPFragmenter -> WAN
//         ^                                            ICMPPingRewriter
//         |                                                 ^    ^
//         |                            visitors and answers |    | echo replies
//         |                                                 |    |
//         '-- ICMPRewriter <-------- errors ------------- IPClassifier <- DecIPTTL <- IPClassifier
//                                                            |                         |   ^
//                                                      others: drop    forged, not for us  '- IPReassembler <- WAN
//
// Run it on a host with an interface to each side, without IP addresses of their own:
//
//    sudo clickwork run examples/nat-gateway.click LAN=eth0 LAN_ETHER=eth0 LAN_IP=192.168.1.1 LAN_NET=192.168.1.0/24 \
//        WAN=eth1 WAN_ETHER=eth1 WAN_IP=203.0.113.7 NEXT_HOP=203.0.113.1 WEB_SERVER=192.168.1.80
//
// Hosts of the home use LAN_IP as their gateway. The handlers nat.tcp_table, nat.udp_table and pings.table show who
// talks to whom; nat.drop_reasons counts what came in without being asked for. 'clickwork doc IPRewriter' says more.

define(
  $LAN eth0, $LAN_ETHER 02:00:00:0d:00:01, $LAN_IP 192.168.1.1, $LAN_NET 192.168.1.0/24,
  $WAN eth1, $WAN_ETHER 02:00:00:0d:00:02, $WAN_IP 203.0.113.7, $NEXT_HOP 203.0.113.1,
  $WEB_SERVER 192.168.1.80,             // who answers visitors on port 80
  $MAPPINGS 65536, $MTU 1500
);

// One interface, with ARP.
//   input 0: frames from the network      output 0: IP packets from the network
//   input 1: IP packets to send           output 1: frames to the network
elementclass Interface { $ip, $ether |
    input
        -> HostEtherFilter($ether)
        -> kind :: Classifier(12/0800,              // IP
                              12/0806 20/0001,      // ARP queries
                              12/0806 20/0002,      // ARP replies
                              -);
    kind [0] -> Strip(14) -> CheckIPHeader -> output;
    kind [1] -> ARPResponder($ip $ether) -> frames :: Null;
    kind [2] -> [1] arp :: ARPQuerier($ip, $ether);
    kind [3] -> strange :: Discard;

    input [1] -> arp -> frames -> [1] output;
}

lan :: Interface($LAN_IP, $LAN_ETHER);
wan :: Interface($WAN_IP, $WAN_ETHER);
from_lan :: FromDevice($LAN, PROMISC true, SNIFFER false) -> lan;
from_wan :: FromDevice($WAN, PROMISC true, SNIFFER false) -> wan;
lan [1] -> Queue(1000) -> to_lan :: ToDevice($LAN);
wan [1] -> Queue(1000) -> to_wan :: ToDevice($WAN);

// Hosts of the home are neighbours; everyone else is beyond the next hop.
home :: IPFragmenter($MTU) -> GetIPAddress(16) -> [1] lan;
world :: IPFragmenter($MTU) -> SetIPAddress($NEXT_HOP) -> [1] wan;

// The mappings. Output 0 leads outside, output 1 home.
nat :: IPRewriter(pattern $WAN_IP 1024-65535 - - 0 1,   // input 0: from home
                  pattern - - $WEB_SERVER 80 1 0,       // input 1: visitors of the web server
                  drop,                                 // input 2: from outside, answers only
                  CAPACITY $MAPPINGS);
pings :: ICMPPingRewriter(pattern $WAN_IP 1024-65535 - - 0 1, drop, CAPACITY nat);
nat [0] -> world;
nat [1] -> home;
pings [0] -> world;
pings [1] -> home;
errors :: ICMPRewriter(nat pings) -> home;

// From home.
lan
    -> IPReassembler // fragments have no ports
    -> from_home :: IPClassifier(not src net $LAN_NET,
                                 icmp type echo and dst host $LAN_IP,
                                 dst host $LAN_IP or $WAN_IP,
                                 dst net $LAN_NET or 224.0.0.0/3,
                                 dst port 137-139 or 445,       // shared folders stay at home
                                 -);
from_home [0] -> forged :: Discard;
from_home [1] -> ICMPPingResponder -> home;
from_home [2] -> for_us :: Discard;
from_home [3] -> for_home :: Discard;
from_home [4] -> private :: Discard;
from_home [5]
    -> out_ttl :: DecIPTTL
    -> outward :: IPClassifier(tcp dst port 21, tcp or udp, icmp type echo, -);
out_ttl [1] -> ICMPError($LAN_IP, timeexceeded, transit) -> home;
outward [0] -> FTPPortMapper(nat, nat, 0) -> nat;
outward [1] -> nat;
outward [2] -> pings;
outward [3] -> not_translated :: Discard;

// From outside.
wan
    -> IPReassembler
    -> from_world :: IPClassifier(src net $LAN_NET or 10.0.0.0/8 or 172.16.0.0/12 or 192.168.0.0/16,
                                  src net 127.0.0.0/8 or 0.0.0.0/8 or 224.0.0.0/3 or src host $WAN_IP,
                                  not dst host $WAN_IP,
                                  -);
from_world [0] -> spoofed :: Discard;
from_world [1] -> spoofed;
from_world [2] -> for_others :: Discard;
from_world [3]
    -> in_ttl :: DecIPTTL
    -> inward :: IPClassifier(tcp dst port 80,
                              tcp or udp,
                              icmp type echo-reply,
                              icmp type unreachable or timeexceeded or parameterproblem,
                              -);
in_ttl [1] -> ICMPError($WAN_IP, timeexceeded, transit) -> world;
inward [0] -> [1] nat;
inward [1] -> [2] nat;
inward [2] -> [1] pings;
inward [3] -> errors;
inward [4] -> not_asked :: Discard;
