// traffic-shaper.click: limits the bandwidth of the traffic in a capture, as a slow link would.
//
//    FromDump -> Queue -> BandwidthShaper -> SetTimestamp -> ToDump
//                  |
//                  | full: drop
//
// Packets come at the times at which they were captured, wait in the queue, and leave at $RATE at most; the new
// capture has the times at which they left. Simulated time makes that exact, and fast:
//
//    clickwork run --simtime examples/traffic-shaper.click IN=bursts.pcap OUT=smooth.pcap RATE=1Mbps \
//        -h queue.drops -h queue.highwater_length

define($IN in.pcap, $OUT out.pcap, $RATE 1Mbps, $QUEUE 100);

FromDump($IN, TIMING true, STOP true)
    -> queue :: Queue($QUEUE)
    -> BandwidthShaper($RATE)
    -> SetTimestamp
    -> out :: ToDump($OUT, SNAPLEN 0);

// After the last packet has come, wait until the queue is empty.
DriverManager(wait_stop, label drain, wait 10ms, goto drain $(gt $(queue.length) 0), stop);
