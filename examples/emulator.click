// emulator.click: makes the way between two networks slow, long and lossy, to see what programs make of that.
//
// The computer stands between the two as a bridge. What comes in at one side goes out at the other, later, if at all:
//
//    FromDevice(A) -> Impair ------------------------------------------------------> ToDevice(B)
//                      RandomSample -> Queue -> LinkUnqueue -> Queue
//                      loss                     rate and delay
//
//    FromDevice(B) -> Impair -> ToDevice(A)
//
// A packet is lost with probability $LOSS. The others queue up for a link of $RATE, of which no more than $QUEUE wait;
// each arrives $DELAY after it has been sent, in the order in which they came. Both directions are alike.
//
//    sudo clickwork run examples/emulator.click A=eth0 B=eth1 DELAY=40ms LOSS=0.01 RATE=2Mbps
//
// While it runs with '-p 7777', loss can be changed:  clickwork ctl 7777 write forth/loss.drop_prob 0.1

define($A eth0, $B eth1, $DELAY 40ms, $LOSS 0.01, $RATE 10Mbps, $QUEUE 100);

elementclass Impair { $delay, $loss, $rate, $queue |
    input
        -> loss :: RandomSample(DROP $loss)
        -> waiting :: Queue($queue)
        -> link :: LinkUnqueue($delay, $rate)
        -> arrived :: Counter
        -> Queue(1000)
        -> output;
}

FromDevice($A, PROMISC true, SNIFFER false)
    -> forth :: Impair($DELAY, $LOSS, $RATE, $QUEUE)
    -> ToDevice($B);
FromDevice($B, PROMISC true, SNIFFER false)
    -> back :: Impair($DELAY, $LOSS, $RATE, $QUEUE)
    -> ToDevice($A);
