// replay.click: sends the packets of a capture again, at the distances in time at which they were captured.
//
//    FromDump (TIMING) -> TimeRange -> StoreEtherAddress -> Queue -> ToDevice
//
// The capture may be of pcap or pcapng, and compressed. Of it the SECONDS from START on are sent, which counts from its
// first packet, to the Ethernet address TO. At the end it says how much that was.
//
//    sudo clickwork run examples/replay.click TRACE=trace.pcap DEVICE=eth0 TO=00:00:5e:00:53:01
//
// As fast as the device takes them instead: TIMING=false. How it gets on, while it runs with '-p 7777':
//
//    clickwork ctl 7777 read sent.count

define($TRACE trace.pcap, $DEVICE eth0, $TO 00:00:5e:00:53:01, $START 0, $SECONDS 1e6, $TIMING true);

trace :: FromDump($TRACE, TIMING $TIMING, START_AFTER $START, INTERVAL $SECONDS, STOP true)
    -> times :: TimeRange
    -> StoreEtherAddress($TO, dst)
    -> queue :: Queue(10000)
    -> sent :: Counter
    -> ToDevice($DEVICE);

// At the end of the file, or of the window, what is in the queue still goes.
DriverManager(
  wait_stop,
  label more,
  goto done $(eq $(queue.length) 0),
  wait 10ms,
  goto more,
  label done,
  print "$(sent.count) packets of $(sent.byte_count) bytes, captured within $(times.interval) s",
  print "$(queue.drops) dropped");
