// dns-proxy.click: answers name queries of a network by asking two name servers in turn.
//
// Hosts of the network use the proxy's address as their name server. Each query gets the proxy's address and a port of
// its own, and goes to the next of the servers; the answer goes back to the host as if the proxy had given it. Answers
// that nobody asked for reach nobody. Strangers are not served. The same few lines redirect any other port: change 53.
//
//      network
//
//         |  FromDevice -> Interface -> IPClassifier -----queries----> [0] UDPRewriter -----------.
//         |                  |            | | |                             ^   |  [1]            | [0]
//         |                 ARP           | | '---from port 53 to us---> [1]'   |                 |
//         |                  |            | |                              answers             queries
//         |                  |            | '---ICMP errors--> ICMPRewriter ->  |                 |
//         |                  |         others: drop                    |        |                 |
//         |                  v                                         v        v                 v
//         |  ToDevice <- Interface <------------------------------------------- StaticIPLookup <--'
//
// Run it on a host with an interface to the network that has no IP address of its own:
//
//    sudo clickwork run examples/dns-proxy.click DEVICE=eth0 ETHER=eth0 IP=192.168.1.53 NET=192.168.1.0/24 \
//        GATEWAY=192.168.1.1 SERVER1=9.9.9.9 SERVER2=149.112.112.112
//
// and try it: 'dig @192.168.1.53 example.org' on another host. The handler proxy.table shows the queries under way.
// 'clickwork doc UDPRewriter' and 'clickwork doc RoundRobinIPMapper' say more.

define(
  $DEVICE eth0, $ETHER 02:00:00:0d:00:53, $IP 192.168.1.53, $NET 192.168.1.0/24, $GATEWAY 192.168.1.1,
  $SERVER1 9.9.9.9, $SERVER2 149.112.112.112,
  $QUERIES 10000                        // under way at a time
);

// The interface, with ARP.
//   input 0: frames from the network      output 0: IP packets from the network
//   input 1: IP packets to send           output 1: frames to the network
elementclass Interface { $ip, $ether |
    input
        -> HostEtherFilter($ether)
        -> kind :: Classifier(12/0800, 12/0806 20/0001, 12/0806 20/0002, -);
    kind [0] -> Strip(14) -> CheckIPHeader -> output;
    kind [1] -> ARPResponder($ip $ether) -> frames :: Null;
    kind [2] -> [1] arp :: ARPQuerier($ip, $ether);
    kind [3] -> strange :: Discard;

    input [1] -> arp -> frames -> [1] output;
}

net :: Interface($IP, $ETHER);
FromDevice($DEVICE, PROMISC true, SNIFFER false) -> net;
net [1] -> Queue(1000) -> ToDevice($DEVICE);

// Where packets go next.
routes :: StaticIPLookup($NET 0, 0.0.0.0/0 $GATEWAY 0) -> [1] net;

// The servers, in turn, and the queries under way. An answer seldom takes more than seconds.
servers :: RoundRobinIPMapper($IP 1024-65535 $SERVER1 53 0 1, $IP 1024-65535 $SERVER2 53 0 1);
proxy :: UDPRewriter(servers, drop, TIMEOUT 20, GUARANTEE 5, REAP_INTERVAL 10, CAPACITY $QUERIES);
proxy [0] -> queries :: Counter -> routes;
proxy [1] -> answers :: Counter -> routes;

net -> kind :: IPClassifier(udp dst port 53 and dst host $IP and src net $NET,
                            udp src port 53 and dst host $IP,
                            icmp type unreachable or timeexceeded and dst host $IP,
                            icmp type echo and dst host $IP,
                            -);
kind [0] -> proxy;
kind [1] -> [1] proxy;
kind [2] -> ICMPRewriter(proxy) -> routes;
kind [3] -> ICMPPingResponder -> routes;
kind [4] -> not_served :: Discard;
