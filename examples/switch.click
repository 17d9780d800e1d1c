// switch.click: an Ethernet switch between two interfaces, which learns where stations are.
//
//    FromDevice --> [0]           [0] --> Queue -> ToDevice      :first
//                       EtherSwitch
//    FromDevice --> [1]           [1] --> Queue -> ToDevice      :second
//
// A frame goes only to the side where its destination is; broadcasts, and frames to stations not heard of yet, go to
// the other side. For more interfaces, add a line of each kind.
//
//    sudo clickwork run examples/switch.click FIRST=eth0 SECOND=eth1
//
// Who is where, while it runs with '-p 7777':  clickwork ctl 7777 read switch.table

define($FIRST eth0, $SECOND eth1);

switch :: EtherSwitch;

FromDevice($FIRST, PROMISC true, SNIFFER false) -> [0] switch;
FromDevice($SECOND, PROMISC true, SNIFFER false) -> [1] switch;

switch [0] -> Queue(1000) -> ToDevice($FIRST);
switch [1] -> Queue(1000) -> ToDevice($SECOND);
