// diffserv.click: Differentiated Services, as two blocks that condition the traffic of a link by its DSCP.
//
// Both are from "The Click modular router" (TOCS 2000). The first (Figure 15) has a stream for each way to limit one:
//
//                .-A--> Meter(7500) --------> Queue --.
//                |          '- above: Discard         |
//    --> Classifier-B--> Queue -> Shaper(10000) ----> RoundRobinSched -> [0]
//                |                                    |                  PrioSched -> link
//                +-C--> Meter(12500) -------> Queue --'              .-> [1]
//                |          '- above: SetIPDSCP(D) --.               |
//                '-D---------------------------------'--> Queue -----'
//
// A that comes too fast is dropped; B waits in its queue, from which no more than 10,000 packets a second are let; C
// that comes too fast becomes ordinary traffic, D, which has what the others leave. (A Meter judges all packets by
// their average rate: when that is too high, none passes.)
//
// The second (Figure 19) limits the high of three priorities, so that it cannot take the link for itself:
//
//                .-high---> RatedSplitter(30000) --> Queue -> [0]
//    --> Classifier             '- above: Discard             PrioSched -> link
//                +-medium--------------------------> Queue -> [1]
//                '-low-----------------------------> Queue -> [2]
//
// Each class of the second gets a third of $TOTAL packets a second; the link takes as many as fast Ethernet does of the
// shortest packets. High gets 30,000; when the link is full low loses first, then medium. For the first block, each
// stream gets $EACH. Two seconds of simulated time:
//
//    clickwork run --simtime examples/diffserv.click TOTAL=300000
//
// 'bench/diffserv.py' draws what all totals give: the shape of Figure 20.

define($TOTAL 240000, $EACH 14000, $LINK 148800);

// The DSCPs: A to D of the first block; high, medium and low of the second.
define($A 46, $B 34, $C 26, $D 0, $HIGH 46, $MEDIUM 26, $LOW 0);

elementclass FourStreams {
    input -> stream :: IPClassifier(ip dscp $A, ip dscp $B, ip dscp $C, -);

    stream [0]
        -> a :: Meter(7500)
        -> Queue
        -> [0] limited :: RoundRobinSched
        -> [0] link :: PrioSched
        -> output;
    a [1] -> a_dropped :: Counter -> Discard;
    stream [1] -> b :: Queue -> Shaper(10000) -> [1] limited;
    stream [2] -> c :: Meter(12500) -> Queue -> [2] limited;
    c [1] -> SetIPDSCP($D) -> c_marked :: Counter -> ordinary :: Queue -> [1] link;
    stream [3] -> ordinary;
}

elementclass ThreeClasses {
    input -> class :: IPClassifier(ip dscp $HIGH, ip dscp $MEDIUM, -);

    class [0] -> high :: RatedSplitter(30000) -> Queue -> [0] link :: PrioSched -> output;
    high [1] -> Discard;
    class [1] -> medium :: Queue -> [1] link;
    class [2] -> low :: Queue -> [2] link;
}

elementclass Sender { $dscp, $rate |
    RatedSource(LENGTH 18, RATE $rate)
        -> UDPIPEncap(10.0.0.1, 5000, 10.1.0.1, 5000)
        -> SetIPDSCP($dscp)
        -> output;
}

four :: FourStreams
    -> RatedUnqueue($LINK)
    -> kind :: IPClassifier(ip dscp $A, ip dscp $B, ip dscp $C, -);
a, b, c, d :: Counter;
kind => a, b, c, d -> Discard;
Sender($A, $EACH) -> four;
Sender($B, $EACH) -> four;
Sender($C, $EACH) -> four;
Sender($D, $EACH) -> four;

// A third of the total for each class.
split :: RatedSource(LENGTH 18, RATE $TOTAL)
    -> UDPIPEncap(10.0.0.1, 5000, 10.1.0.1, 5000)
    -> third :: RoundRobinSwitch;
third [0] -> SetIPDSCP($HIGH) -> three :: ThreeClasses;
third [1] -> SetIPDSCP($MEDIUM) -> three;
third [2] -> SetIPDSCP($LOW) -> three;
three -> RatedUnqueue($LINK) -> class :: IPClassifier(ip dscp $HIGH, ip dscp $MEDIUM, -);
high, medium, low :: Counter;
class => high, medium, low -> Discard;

// What is counted in the second second, when averages have settled.
DriverManager(wait 1s,
  set a $(a.count), set b $(b.count), set c $(c.count), set d $(d.count),
  set high $(high.count), set medium $(medium.count), set low $(low.count),
  wait 1s,
  print "four streams, $EACH a second each, become",
  print "  A $(sub $(a.count) $a)   B $(sub $(b.count) $b)   C $(sub $(c.count) $c)   D $(sub $(d.count) $d)",
  print "three classes, $TOTAL a second in all, become",
  print "  high $(sub $(high.count) $high)   medium $(sub $(medium.count) $medium)   low $(sub $(low.count) $low)",
  stop);
