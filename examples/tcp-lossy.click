// tcp-lossy.click: what TCP makes of a bad line, in simulated time.
//
// Two stacks, each with programs, and a line between them that loses, duplicates, damages and reorders packets:
//
//    TCPChargenServer \                                                          / TCPChargenClient
//       TCPEchoServer -- server :: ProlacTCP <--- Line ---> client :: ProlacTCP -- TCPEchoClient
//    TCPDiscardServer /                                                          \ TCPDiscardClient
//
//    Line:  RandomSample -> damage -> duplication -> detour -> Queue -> LinkUnqueue
//           loss            RandomBitErrors  Tee     DelayUnqueue       rate and delay
//
// The clients send and receive $LENGTH bytes each and check every one of them. When all are done, what they have seen
// is printed, and what has happened on the line:
//
//    clickwork run --simtime examples/tcp-lossy.click LOSS=0.05 DELAY=50ms RATE=2Mbps
//
// Runs with the same SEED are alike, packet by packet; another one shows other accidents. '-h client.counters' shows
// what the client's stack has counted, '-h client.drops' why it has dropped packets.

define($LENGTH 200000, $LOSS 0.02, $DAMAGE 0.01, $DUPLICATE 0.01, $REORDER 0.01);
define($DELAY 20ms, $RATE 10Mbps, $SEED 1);

RandomSeed($SEED);

elementclass Line { $delay, $rate, $loss, $damage, $duplicate, $reorder |
    input
        -> loss :: RandomSample(DROP $loss)
        -> damage :: RandomSample(DROP $damage)
        -> copies :: Tee
        -> detour :: RandomSample(DROP $reorder)
        -> link :: Queue(1000)
        -> LinkUnqueue($delay, $rate)
        -> output;
    loss [1] -> lost :: Counter -> Discard;
    // One bit in a thousand, in some packets.
    damage [1] -> RandomBitErrors(0.001) -> damaged :: Counter -> copies;
    copies [1] -> once_more :: RandomSample($duplicate) -> duplicated :: Counter -> detour;
    once_more [1] -> Discard;
    // These come to the link when others have overtaken them.
    detour [1] -> Queue(1000) -> DelayUnqueue(5ms) -> delayed :: Counter -> link;
}

server :: ProlacTCP(10.0.0.1)
    -> there :: Line($DELAY, $RATE, $LOSS, $DAMAGE, $DUPLICATE, $REORDER)
    -> client :: ProlacTCP(10.0.0.2)
    -> back :: Line($DELAY, $RATE, $LOSS, $DAMAGE, $DUPLICATE, $REORDER)
    -> server;

TCPEchoServer(server);
sink :: TCPDiscardServer(server, CHECKSUM true);
TCPChargenServer(server);

echo :: TCPEchoClient(client, 10.0.0.1, LENGTH $LENGTH, STOP true);
discard :: TCPDiscardClient(client, 10.0.0.1, LENGTH $LENGTH, STOP true);
chargen :: TCPChargenClient(client, 10.0.0.1, LENGTH $LENGTH, STOP true);

DriverManager(
    wait_stop 3,
    print "echo: $(echo.verified) bytes in $(echo.rtt), errors: $(echo.errors)",
    print "discard: $(discard.bytes_out) bytes at $(discard.rate) bytes/s, errors: $(discard.errors)",
    print "discard: checksum $(discard.checksum), received $(sink.checksum)",
    print "chargen: $(chargen.verified) bytes at $(chargen.rate) bytes/s, errors: $(chargen.errors)",
    print "lost $(add $(there/lost.count) $(back/lost.count)) packets",
    print "damaged $(add $(there/damaged.count) $(back/damaged.count)) packets",
    print "duplicated $(add $(there/duplicated.count) $(back/duplicated.count)) packets",
    print "delayed $(add $(there/delayed.count) $(back/delayed.count)) packets",
    stop
);
