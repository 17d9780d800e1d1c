// red.click: random early detection in its four forms, which differ by position alone.
//
// An element does not name the queues that it watches: RED looks for the nearest ones, downstream if it is pushed into,
// upstream if it is pulled from ("The Click modular router", TOCS 2000). So where it stands says what it does:
//
//    --> RED -> Queue -->                                          single: one queue
//
//                         .-> Queue -.
//    --> RED -> PaintSwitch          PrioSched -->                 shared: all queues of a link, as if they were one
//                         '-> Queue -'
//
//                   .-> RED (mild)   -.
//    --> PaintSwitch                  Queue -->                    weighted: one class of packets loses more than
//                   '-> RED (strict) -'                            the other, in the same queue
//
//    --> Queue -> RED -->                                          front: old packets are dropped, not new ones, so
//                                                                  that their sender hears of it sooner
//
// Each form gets 600 packets a second of gold and 600 of silver, for a link that takes 1000. Half a minute of simulated
// time passes in a moment:
//
//    clickwork run --simtime examples/red.click
//
// RED over queues with another algorithm: put PIE or FQCoDel in place of RED and Queue, or CoDel behind a Queue.

define($MIN 5, $MAX 50, $P 0.1, $RATE 1000, $LOAD 600);

elementclass Single { $min, $max, $p |
    input -> red :: RED($min, $max, $p) -> Queue(1000) -> output;
    red [1] -> [1] output;
}

elementclass Shared { $min, $max, $p |
    input -> red :: RED($min, $max, $p) -> colour :: PaintSwitch;
    colour [0] -> gold :: Queue(1000) -> [0] link :: PrioSched -> output;
    colour [1] -> silver :: Queue(1000) -> [1] link;
    red [1] -> [1] output;
}

elementclass Weighted { $min, $max, $p |
    input -> colour :: PaintSwitch;
    colour [0] -> mild :: RED($max, 150, $p) -> queue :: Queue(1000) -> output;
    colour [1] -> strict :: RED($min, $max, $p) -> queue;
    mild [1] -> [1] output;
    strict [1] -> [1] output;
}

elementclass Front { $min, $max, $p |
    input -> Queue(1000) -> red :: RED($min, $max, $p) -> output;
    red [1] -> [1] output;
}

elementclass Count {
    input -> colour :: PaintSwitch;
    colour [0] -> gold :: Counter -> Discard;
    colour [1] -> silver :: Counter -> Discard;
}

// A link, and what became of gold and silver in front of it.
elementclass Link { $rate |
    input [0] -> RatedUnqueue($rate) -> sent :: Count;
    input [1] -> lost :: Count;
}

RatedSource(RATE $LOAD) -> Paint(0) -> load :: Tee;
RatedSource(RATE $LOAD) -> Paint(1) -> load;

load [0] -> single :: Single($MIN, $MAX, $P) [0, 1] => [0, 1] single_link :: Link($RATE);
load [1] -> shared :: Shared($MIN, $MAX, $P) [0, 1] => [0, 1] shared_link :: Link($RATE);
load [2] -> weighted :: Weighted($MIN, $MAX, $P) [0, 1] => [0, 1] weighted_link :: Link($RATE);
load [3] -> front :: Front($MIN, $MAX, $P) [0, 1] => [0, 1] front_link :: Link($RATE);

DriverManager(wait 30s,
  print "form      average queue   lost gold   lost silver",
  print "single    $(single/red.avg_queue_size)   $(single_link/lost/gold.count)   $(single_link/lost/silver.count)",
  print "shared    $(shared/red.avg_queue_size)   $(shared_link/lost/gold.count)   $(shared_link/lost/silver.count)",
  set gold $(weighted_link/lost/gold.count),
  print "weighted  $(weighted/strict.avg_queue_size)   $gold   $(weighted_link/lost/silver.count)",
  print "front     $(front/red.avg_queue_size)   $(front_link/lost/gold.count)   $(front_link/lost/silver.count)",
  stop);
