// queueing.click: what a queue does to a small flow that shares a link with a large one.
//
// A call (40 packets per second) and a download (200) go over a link that takes 100. With one queue for both, each
// loses its part. With a queue for each and a scheduler that prefers the call, only the download loses.
//
//    call -----.                                        .-> call
//              +-> Queue -> RatedUnqueue -> PaintSwitch +
//    download -'                                        '-> download
//
//    call -----> Queue -.                                                .-> call
//                       +-> PrioSched -> RatedUnqueue -> PaintSwitch ----+
//    download -> Queue -'                                                '-> download
//
// Ten seconds of simulated time pass in a moment:
//
//    clickwork run --simtime examples/queueing.click

elementclass Call { RatedSource(LENGTH 200, RATE 40) -> Paint(0) -> output }
elementclass Download { RatedSource(LENGTH 1500, RATE 200) -> Paint(1) -> output }

// What arrives over the link, told apart by colour.
elementclass Arrivals {
    input -> flow :: PaintSwitch;
    flow [0] -> call :: Counter -> Discard;
    flow [1] -> download :: Counter -> Discard;
}

// One queue for both.
shared :: Queue(50) -> RatedUnqueue(100) -> first :: Arrivals;
Call -> shared;
Download -> shared;

// A queue for each; the call goes first.
prefer :: PrioSched -> RatedUnqueue(100) -> second :: Arrivals;
Call -> Queue(50) -> [0] prefer;
Download -> Queue(50) -> [1] prefer;

DriverManager(wait 10s,
  print "in 10 seconds           call    download   (of 400 and 2000 packets)",
  print "  one queue              $(first/call.count)         $(first/download.count)",
  print "  the call goes first    $(second/call.count)         $(second/download.count)",
  stop);
