// Between two interfaces with the least that lets kernel hosts on both sides talk: new Ethernet headers, and queues.
// For live-forward.sh and live-ping.sh, whose topology gives the addresses:
//
//   bench/live-forward.sh target/release/clickwork run bench/live-simple.click
//
//   r0 -> new header -> Queue -> r1
//   r1 -> new header -> Queue -> r0

FromDevice(r0, SNIFFER false) -> Strip(14)
    -> EtherEncap(0x0800, 02:00:00:91:02:01, 02:00:00:91:02:02) -> Queue -> ToDevice(r1);
FromDevice(r1, SNIFFER false) -> Strip(14)
    -> EtherEncap(0x0800, 02:00:00:91:01:01, 02:00:00:91:01:02) -> Queue -> ToDevice(r0);
