// tcp-gateway.click: a local server, reached through a TCP of our own.
//
//    clients <--> the host's network <--> tun :: KernelTun <--> stack :: ProlacTCP
//                                                                     |
//                                          server on the host <--> TCPToSocket
//
// The server, any program that listens at $SERVER and $PORT, is not reachable from outside. Clients connect to port 80
// of $OWN, which is this router; for each connection there is one to the server, and what either end sends the other
// gets. So clients speak with Prolac TCP, whose connections can be watched, tuned and led through any elements,
// and the server knows nothing of it.
//
//    python3 -m http.server --bind 127.0.0.1 8080 &
//    sudo clickwork run examples/tcp-gateway.click
//    curl http://10.9.0.2/             (in another terminal)
//
// Clients elsewhere need a route to $OWN through this host, which must forward packets. Servers behind a Unix socket
// are reached with 'TCPToSocket(stack, 80, UNIX, /run/server.sock)'.

define($HOST 10.9.0.1, $OWN 10.9.0.2, $SERVER 127.0.0.1, $PORT 8080, $MTU 1500);

// The kernel sends some IPv6 too, which nobody here wants.
tun :: KernelTun($HOST/24, MTU $MTU)
    -> Classifier(0/4?)
    -> CheckIPHeader
    -> kinds :: IPClassifier(dst host $OWN and tcp, dst host $OWN and icmp type echo, -);

kinds [0] -> stack :: ProlacTCP($OWN, MTU $MTU) -> tun;
kinds [1] -> ICMPPingResponder -> tun;
kinds [2] -> others :: Discard;

gateway :: TCPToSocket(stack, 80, TCP, $SERVER, $PORT);
