// figure-12.click: two parallel links, two priorities, fairness, and random early detection over all of it.
//
// After Figure 12 of "The Click modular router" (TOCS 2000): a router has two links to the same neighbour and shares
// the load among them. Each flow stays on one link, so that its packets keep their order. On each link urgent packets
// (DSCP 46, expedited forwarding) go first, and a flow can only crowd out those of its hash. One RED watches the total
// of all four queues, which it finds by itself, whatever is in between.
//
//                                              .-> Queue ---------------> [0]
//                       .-urgent-> HashSwitch -|                           PrioSched -> link A
//                       |                      '-> Queue -----.       .--> [1]
//    --> RED -> IPClassifier                                  |       |
//                       |                      .-> Queue -----|-------'
//                       '-rest---> HashSwitch -|              '----------> [0]
//                                              |                           PrioSched -> link B
//                                              '-> Queue ---------------> [1]
//
// Ten seconds of simulated time, in which 32 flows send 2400 packets a second, 400 of them urgent, over two links of
// 1000 each:
//
//    clickwork run --simtime examples/figure-12.click

define($URGENT 100, $REST 500, $RATE 1000, $MIN 20, $MAX 100, $P 0.1);

// A flow's sources: four ports, so that the hash has something to tell apart.
elementclass Flows { $address, $dscp, $rate |
    RatedSource(LENGTH 472, RATE $rate) -> port :: RandomSwitch;
    port [0] -> UDPIPEncap($address, 5000, 10.1.0.1, 5008) -> mark :: SetIPDSCP($dscp) -> output;
    port [1] -> UDPIPEncap($address, 5001, 10.1.0.1, 5008) -> mark;
    port [2] -> UDPIPEncap($address, 5002, 10.1.0.1, 5008) -> mark;
    port [3] -> UDPIPEncap($address, 5003, 10.1.0.1, 5008) -> mark;
}

// Packets of both kinds on one link.
elementclass Link { $rate |
    input -> RatedUnqueue($rate) -> kind :: IPClassifier(ip dscp 46, -);
    kind [0] -> urgent :: Counter -> output;
    kind [1] -> rest :: Counter -> output;
}

red :: RED($MIN, $MAX, $P) -> priority :: IPClassifier(ip dscp 46, -);
red [1] -> early :: Counter -> Discard;

// A flow is known by its addresses and ports: 12 bytes from the source address on.
priority [0] -> urgent :: HashSwitch(12, 12);
priority [1] -> rest :: HashSwitch(12, 12);

urgent [0] -> urgent_a :: Queue(200) -> [0] first_a :: PrioSched;
rest [0] -> rest_a :: Queue(200) -> [1] first_a;
first_a -> a :: Link($RATE) -> Discard;

urgent [1] -> urgent_b :: Queue(200) -> [0] first_b :: PrioSched;
rest [1] -> rest_b :: Queue(200) -> [1] first_b;
first_b -> b :: Link($RATE) -> Discard;

load :: Null -> red;
Flows(10.0.0.1, 46, $URGENT) -> load;
Flows(10.0.0.2, 46, $URGENT) -> load;
Flows(10.0.0.3, 46, $URGENT) -> load;
Flows(10.0.0.4, 46, $URGENT) -> load;
Flows(10.0.0.5, 0, $REST) -> load;
Flows(10.0.0.6, 0, $REST) -> load;
Flows(10.0.0.7, 0, $REST) -> load;
Flows(10.0.0.8, 0, $REST) -> load;

DriverManager(wait 10s,
  print "           urgent  rest",
  print "  link A   $(a/urgent.count)    $(a/rest.count)",
  print "  link B   $(b/urgent.count)    $(b/rest.count)",
  print "dropped by RED $(early.count), for want of room "
        "$(add $(urgent_a.drops) $(urgent_b.drops) $(rest_a.drops) $(rest_b.drops))",
  stop);
