// traffic-counter.click: counts what arrives at a network interface, by protocol, and prints the counts each second.
//
//                                            .- tcp --> Counter -.
//    FromDevice --IP--> IPClassifier --------+- udp --> Counter --+-> Discard
//        |                                   +- icmp -> Counter --+
//        |                                   '- rest -> Counter --+
//        '--not IP----------------------------------> Counter ----'
//
// It only listens: the host goes on receiving its packets.
//
//    sudo clickwork run examples/traffic-counter.click DEVICE=eth0

define($DEVICE eth0);

device :: FromDevice($DEVICE, PROMISC true, FORCE_IP true)
    -> protocol :: IPClassifier(tcp, udp, icmp, -);

end :: Discard;
protocol [0] -> tcp :: Counter -> end;
protocol [1] -> udp :: Counter -> end;
protocol [2] -> icmp :: Counter -> end;
protocol [3] -> rest :: Counter -> end;
device [1] -> not_ip :: Counter -> end;

Script(label loop, wait 1s, write summary.run, goto loop);

summary :: Script(TYPE PASSIVE,
  print "tcp $(tcp.count), udp $(udp.count), icmp $(icmp.count), other IP $(rest.count), not IP $(not_ip.count)");
