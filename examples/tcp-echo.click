// tcp-echo.click: the servers that every network once had: echo, discard and character generator, by a TCP of our own.
//
//                                       .-> IPClassifier -- tcp --> ProlacTCP -------.      (TCPEchoServer, port 7,
//    the host <--> tun :: KernelTun ----'                '- ping -> ICMPPingResponder |      TCPDiscardServer, port 9,
//                       ^                                               |            |      TCPChargenServer, port 19)
//                       '-----------------------------------------------'------------'
//
// The router is a computer of its own at the other end of a TUN interface of the host. Its TCP is not the host's: the
// kernel only hands over IP packets.
//
//    sudo clickwork run examples/tcp-echo.click
//    nc 10.9.0.2 7                     (in another terminal)
//
// and, to see the connections as 'ss -ti' would show them, run it with '-p 7777' and ask
//
//    clickwork ctl 7777 read stack.connections

define($HOST 10.9.0.1, $OWN 10.9.0.2, $MTU 1500);

// The kernel sends some IPv6 too, which nobody here wants.
tun :: KernelTun($HOST/24, MTU $MTU)
    -> Classifier(0/4?)
    -> CheckIPHeader
    -> kinds :: IPClassifier(dst host $OWN and tcp, dst host $OWN and icmp type echo, -);

kinds [0] -> stack :: ProlacTCP($OWN, MTU $MTU) -> tun;
kinds [1] -> ICMPPingResponder -> tun;
kinds [2] -> others :: Discard;

TCPEchoServer(stack);
TCPDiscardServer(stack);
TCPChargenServer(stack);
