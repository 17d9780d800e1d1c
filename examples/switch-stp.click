// switch-stp.click: an Ethernet switch with three interfaces, which may be part of rings (IEEE 802.1D spanning tree).
//
// This is the switch of "The Click modular router" (TOCS 2000), Figure 16. It agrees with the other bridges of the
// network, be they Clickwork, Linux or hardware, on a tree of links, blocks its ports that are not part of it, and
// takes them into use when the tree breaks.
//
//   FromDevice                                                                     ToDevice
//       |                                                                             ^
//   Classifier --frames--> [n] heard --> [n] switch [n] --> [n] sent --> Queue --> PrioSched     n = 0, 1, 2,
//       |                 Suppressor    EtherSwitch       Suppressor                  ^          one for each
//       |                      :             :                :                       |          interface
//       '--bridge messages--> [n] . . . . . tree . . . . . . . [n] ----------> Queue -'
//                                      EtherSpanTree
//
// The dotted lines: the EtherSpanTree opens and closes the ports of both Suppressors, and makes the EtherSwitch forget
// where stations are when the tree changes. Messages to other bridges go before all frames.
//
//    sudo clickwork run examples/switch-stp.click DEV0=eth0 DEV1=eth1 DEV2=eth2 BRIDGE=eth0
//
// BRIDGE=eth0 stands for the Ethernet address of the interface eth0. It takes half a minute until the ports forward,
// and up to twenty seconds more after a link has been lost. The state of the tree, if the switch runs with '-p 7777':
//
//    clickwork ctl 7777 read tree.dump
//
// For more interfaces, add a line of each kind. Where there are no rings, switch.click is enough.

define(
  $DEV0 eth0, $DEV1 eth1, $DEV2 eth2,
  $BRIDGE 02:00:00:00:00:01,            // the address of the switch itself; no other bridge may have it
  $PRIORITY 32768,                      // the bridge with the least is the root of the tree
  $COST 4,                              // of each link, in the way to the root; 4 is usual for 1 Gb/s
  $HELLO 2, $MAX_AGE 20, $DELAY 15      // the times of the network if this switch is the root, in seconds
);

// One interface.
//   input 0: frames from the switch         output 0: frames to the switch
//   input 1: messages to other bridges      output 1: messages from other bridges
elementclass Port { $device |
    FromDevice($device, PROMISC true, SNIFFER false)
        -> kind :: Classifier(0/0180C2000000,                   // to all bridges
                              0/0180C2000000%FFFFFFFFFFF0,      // to the neighbour, not to be passed on
                              -);
    kind [0] -> [1] output;
    kind [1] -> Discard;
    kind [2] -> output;

    input -> frames :: Queue(1000) -> [1] next :: PrioSched;
    input [1] -> messages :: Queue(10) -> [0] next;
    next -> ToDevice($device);
}

port0 :: Port($DEV0);
port1 :: Port($DEV1);
port2 :: Port($DEV2);

tree :: EtherSpanTree($BRIDGE, heard, sent, switch, BRIDGE_PRIORITY $PRIORITY, PATH_COST $COST,
                      HELLO_TIME $HELLO, MAX_AGE $MAX_AGE, FORWARD_DELAY $DELAY);

port0 [1] -> [0] tree [0] -> [1] port0;
port1 [1] -> [1] tree [1] -> [1] port1;
port2 [1] -> [2] tree [2] -> [1] port2;

heard, sent :: Suppressor;
switch :: EtherSwitch;

port0 -> [0] heard [0] -> [0] switch [0] -> [0] sent [0] -> port0;
port1 -> [1] heard [1] -> [1] switch [1] -> [1] sent [1] -> port1;
port2 -> [2] heard [2] -> [2] switch [2] -> [2] sent [2] -> port2;
