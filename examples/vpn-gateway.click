// vpn-gateway.click: a gateway that joins two private networks over the Internet, by a tunnel of IPsec.
//
// What hosts of the near network send to the far one goes into ESP packets (RFC 4303), encrypted and authenticated with
// AES-GCM, to the other gateway, which is this configuration again with its own addresses. What comes back is checked
// for forgery and replay, and must have the addresses of the far network. Nothing leaves unprotected, and nothing
// unprotected comes in. Hosts learn by ICMP which packets are too long for the tunnel.
//
//      near network 10.1.0.0/24                                      Internet
//
//      LAN -> Classifier                                           .------------> ARPQuerier -> WAN
//               |- ARP: answer, learn                              |
//               '- IP -> CheckIPHeader                       SetIPAddress (next hop)
//                            |                                     |
//                       IPClassifier --to the far network--> DecIPTTL, IPFragmenter -> IPsecESPEncrypt
//                         |   '- to nowhere we go: drop               |
//                         '- a ping for us: answer                ICMPError -> LAN
//
//      LAN <- ARPQuerier <- DecIPTTL <- IPFilter <- CheckIPHeader <- IPsecESPDecrypt <- IPReassembler <- WAN
//                                          '- not of the far network: drop   '- not ESP: drop
//
// Run it on both gateways, each with interfaces that have no IP address of their own:
//
//    sudo clickwork run examples/vpn-gateway.click LAN=eth0 LAN_ETHER=eth0 LAN_IP=10.1.0.1 LAN_NET=10.1.0.0/24 \
//        WAN=eth1 WAN_ETHER=eth1 WAN_IP=192.0.2.1 NEXT_HOP=192.0.2.254 PEER=198.51.100.1 FAR_NET=10.2.0.0/24 \
//        SPI_OUT=0x1001 KEY_OUT=file:one.key SPI_IN=0x2001 KEY_IN=file:two.key
//
//    sudo clickwork run examples/vpn-gateway.click LAN=eth0 LAN_ETHER=eth0 LAN_IP=10.2.0.1 LAN_NET=10.2.0.0/24 \
//        WAN=eth1 WAN_ETHER=eth1 WAN_IP=198.51.100.1 NEXT_HOP=198.51.100.254 PEER=192.0.2.1 FAR_NET=10.1.0.0/24 \
//        SPI_OUT=0x2001 KEY_OUT=file:two.key SPI_IN=0x1001 KEY_IN=file:one.key
//
// where one.key and two.key hold two keys, which both gateways have, and nobody else can read:
//
//    (umask 077; for key in one two; do head -c 36 /dev/urandom | xxd -p -c 99 > $key.key; done)
//
// New ones for every start: with AES-GCM no key may serve twice. The other gateway may also be Linux ('ip xfrm state',
// 'ip xfrm policy').
// 'clickwork doc IPsecESPEncrypt' says more; the handlers decrypt.drop_reasons and encrypt.seq tell how it goes.

define(
  $LAN eth0, $LAN_ETHER 02:00:00:0c:00:01, $LAN_IP 10.1.0.1, $LAN_NET 10.1.0.0/24,
  $WAN eth1, $WAN_ETHER 02:00:00:0c:00:02, $WAN_IP 192.0.2.1, $NEXT_HOP 192.0.2.254,
  $PEER 198.51.100.1,                   // the other gateway
  $FAR_NET 10.2.0.0/24,                 // the network behind it
  $SPI_OUT 0x1001, $KEY_OUT file:one.key,
  $SPI_IN 0x2001, $KEY_IN file:two.key,
  $TUNNEL_MTU 1446                      // 1500 less IP header, ESP header, IV, padding and check value
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

// To hosts of the near network.
deliver :: GetIPAddress(16) -> [1] lan;

// From the near network: what is protected, what we answer, and nothing else.
lan -> outbound :: IPClassifier(src net $LAN_NET and dst net $FAR_NET,
                                icmp type echo and dst host $LAN_IP,
                                -);
outbound [0]
    -> ttl :: DecIPTTL
    -> protect :: IPFragmenter($TUNNEL_MTU)
    -> encrypt :: IPsecESPEncrypt($SPI_OUT, $KEY_OUT, SRC $WAN_IP, DST $PEER)
    -> SetIPAddress($NEXT_HOP)
    -> [1] wan;
outbound [1] -> ICMPPingResponder -> deliver;
outbound [2] -> unprotected :: Discard;

ttl [1] -> ICMPError($LAN_IP, timeexceeded, transit) -> deliver;
protect [1] -> ICMPError($LAN_IP, unreachable, needfrag, PMTU $TUNNEL_MTU) -> deliver;

// From the tunnel: only what the other gateway may send.
wan
    -> IPReassembler
    -> decrypt :: IPsecESPDecrypt($SPI_IN, $KEY_IN)
    -> CheckIPHeader
    -> allowed :: IPFilter(allow src net $FAR_NET and dst net $LAN_NET, 1 all)
    -> inbound :: IPClassifier(icmp type echo and dst host $LAN_IP, -);
decrypt [1] -> not_esp :: Discard;
allowed [1] -> spoofed :: Discard;

inbound [0] -> ICMPPingResponder -> protect;
inbound [1] -> last_hop :: DecIPTTL -> deliver;
last_hop [1] -> ICMPError($LAN_IP, timeexceeded, transit) -> protect;
