// traffic-generator.click: sends UDP packets at a steady rate, and says each second how many it has sent.
//
//    RatedSource -> UDPIPEncap -> EtherEncap -> Counter -> Queue -> ToDevice
//
// The packets go to port 9 (discard) of $TO, in frames to the Ethernet address $TO_ETHER: that of the host itself or of
// the router on the way to it. Count them at the other end with traffic-counter.click.
//
//    sudo clickwork run examples/traffic-generator.click DEVICE=eth0 RATE=100000 COUNT=1000000

define(
  $DEVICE eth0, $RATE 1000, $COUNT 10000, $LENGTH 18,        // packets per second, packets, bytes of data
  $FROM 10.0.0.2, $FROM_ETHER 02:00:00:00:00:02,
  $TO   10.1.0.2, $TO_ETHER   ff:ff:ff:ff:ff:ff
);

RatedSource(RATE $RATE, LIMIT $COUNT, LENGTH $LENGTH, STOP true)
    -> UDPIPEncap($FROM, 49152, $TO, 9)
    -> EtherEncap(0x0800, $FROM_ETHER, $TO_ETHER)
    -> sent :: Counter
    -> queue :: Queue(1000)
    -> ToDevice($DEVICE);

Script(label loop, wait 1s, print "$(sent.count) packets, $(sent.rate) per second", goto loop);

// After the last packet, let the queue run empty.
DriverManager(wait_stop,
  label drain, wait 10ms, goto drain $(gt $(queue.length) 0),
  print "$(sent.count) packets sent", stop);
