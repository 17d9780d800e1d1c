// capture-filter.click: copies the IP packets of a capture that match a filter to another capture.
//
//    FromDump --IP--> IPClassifier --match--> ToDump
//       |                  |
//       | not IP           | others
//       v                  v
//    Discard            Discard
//
// The filter is in the language of IPFilter, which is much like tcpdump's: 'clickwork doc IPClassifier'. The captures
// may be pcap or pcapng, of any link type, and compressed: their names decide.
//
//    clickwork run examples/capture-filter.click IN=all.pcap OUT=dns.pcapng.gz FILTER='udp port 53'
//
// How many packets there were of each kind:
//
//    clickwork run examples/capture-filter.click -h kept.count -h others.count -h not_ip.count

define($IN in.pcap, $OUT out.pcap, $FILTER icmp or tcp opt syn);

in :: FromDump($IN, FORCE_IP true, STOP true)
    -> filter :: IPClassifier($FILTER, -)
    -> kept :: ToDump($OUT, SNAPLEN 0, USE_ENCAP_FROM in);

filter [1] -> others :: Discard;
in [1] -> not_ip :: Discard;
