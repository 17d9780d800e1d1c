// fair-queue.click: stochastic fairness queueing as one element, which can replace a Queue anywhere.
//
// A compound element with a push input and a pull output is a "virtual queue" ("The Click modular router", TOCS 2000,
// Figure 10). This one spreads flows over eight queues by a hash of their addresses, and takes packets from the queues
// in turn, the same number of bytes from each (McKenney 1990; deficit round robin):
//
//                      .-> Queue -.
//                      +-> Queue -+
//    --> HashSwitch ---+   ...    +---> DRRSched -->
//                      '-> Queue -'
//
// Flows that share a queue share its part of the link; more queues make that less likely. For a hash that nobody can
// guess, and for short delays besides, see 'clickwork doc FQCoDel'.
//
// Seven flows of 60 packets a second and a greedy one of 2000 share a link that takes 400, with SFQ and with a Queue.
// Twenty seconds of simulated time pass in a moment:
//
//    clickwork run --simtime examples/fair-queue.click
//    clickwork run --simtime examples/fair-queue.click GREEDY=60       # everybody is polite

define($GREEDY 2000, $POLITE 60, $RATE 400);

elementclass SFQ { $capacity |
    // Source and destination address of an IP packet.
    input -> flows :: HashSwitch(12, 8);
    turns :: DRRSched -> output;
    flows [0] -> Queue($capacity) -> [0] turns;
    flows [1] -> Queue($capacity) -> [1] turns;
    flows [2] -> Queue($capacity) -> [2] turns;
    flows [3] -> Queue($capacity) -> [3] turns;
    flows [4] -> Queue($capacity) -> [4] turns;
    flows [5] -> Queue($capacity) -> [5] turns;
    flows [6] -> Queue($capacity) -> [6] turns;
    flows [7] -> Queue($capacity) -> [7] turns;
}

elementclass Flow { $from, $rate |
    RatedSource(LENGTH 472, RATE $rate) -> UDPIPEncap($from, 5000, 10.1.0.1, 5000) -> output;
}

// What arrives of each flow.
elementclass Arrivals {
    input -> from :: IPClassifier(src 10.0.0.0, src 10.0.0.1, src 10.0.0.2, src 10.0.0.3,
                                src 10.0.0.4, src 10.0.0.5, src 10.0.0.6, src 10.0.0.7);
    flow0, flow1, flow2, flow3, flow4, flow5, flow6, flow7 :: Counter;
    from => flow0, flow1, flow2, flow3, flow4, flow5, flow6, flow7 -> Discard;
}

Flow(10.0.0.0, $GREEDY) -> load :: Tee;
Flow(10.0.0.1, $POLITE) -> load;
Flow(10.0.0.2, $POLITE) -> load;
Flow(10.0.0.3, $POLITE) -> load;
Flow(10.0.0.4, $POLITE) -> load;
Flow(10.0.0.5, $POLITE) -> load;
Flow(10.0.0.6, $POLITE) -> load;
Flow(10.0.0.7, $POLITE) -> load;

load [0] -> fair_queue :: SFQ(50) -> RatedUnqueue($RATE) -> fair :: Arrivals;
load [1] -> plain_queue :: Queue(400) -> RatedUnqueue($RATE) -> plain :: Arrivals;

DriverManager(wait 20s,
  print "packets in 20 seconds: the greedy flow, then the seven others",
  print "  SFQ    $(fair/flow0.count)  $(fair/flow1.count) $(fair/flow2.count) $(fair/flow3.count)"
        "$(fair/flow4.count) $(fair/flow5.count) $(fair/flow6.count) $(fair/flow7.count)",
  print "  Queue  $(plain/flow0.count)  $(plain/flow1.count) $(plain/flow2.count) $(plain/flow3.count)"
        "$(plain/flow4.count) $(plain/flow5.count) $(plain/flow6.count) $(plain/flow7.count)",
  stop);
