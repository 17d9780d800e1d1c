// monitor.click: listens to a network for a while, then reports who sent how much, to whom, and in which flows.
//
//                          .-> AggregateIP(ip src) -> AggregateCounter -------------- bytes by sender
//                          |-> AggregateLength -----> AggregateCounter -------------- packets by length
//    FromDevice --IP-> Tee +-> AggregateIPFlows -+--> AggregateCounter -------------- packets by flow
//        |                 |                     '--> AggregateFirst -> ToIPSummaryDump  new flows, as they come
//        |                 |-> [0] IPRateMonitor [0] --> Discard                      rates from networks
//        |                 '-> [1] IPRateMonitor [1] --> Discard                      rates to networks
//        '---- not IP ---> Counter
//
// It only listens: the host goes on receiving its packets. New flows are printed at once; the report comes after
// SECONDS, or when it is interrupted. In it are rates by network, finer where they are above 10 kB/s.
//
//    sudo clickwork run examples/monitor.click DEVICE=eth0 SECONDS=60
//
// What it remembers is bounded, whatever the network sends: see CAPACITY in 'clickwork doc AggregateIPFlows'.
// To look at it while it runs with '-p 7777':  clickwork ctl 7777 read rates.look

define($DEVICE eth0, $SECONDS 60);

device :: FromDevice($DEVICE, PROMISC true, FORCE_IP true) -> all :: Counter -> t :: Tee(5);
device [1] -> not_ip :: Counter -> end :: Discard;

// Sums by sender and by length.
t [0] -> AggregateIP(ip src) -> senders :: AggregateCounter(BYTES true) -> end;
t [1] -> AggregateLength(IP true) -> lengths :: AggregateCounter -> end;

// Flows. The first packet of each is told.
t [2]
    -> flows :: AggregateIPFlows(UDP_TIMEOUT 30, TCP_TIMEOUT 3600, REAP 10)
    -> volumes :: AggregateCounter
    -> first :: AggregateFirst(NOTIFIER flows)
    -> ToIPSummaryDump(-, FIELDS aggregate proto src sport dst dport, HEADER false)
    -> new_flows :: Counter
    -> end;
flows [1] -> no_flow :: Counter -> end;

// Rates: packets count for their source at input 0, for their destination at input 1.
rates :: IPRateMonitor(BYTES, 1, 10000, 10000, false);
t [3] -> [0] rates [0] -> end;
t [4] -> [1] rates [1] -> end;

Script(wait $SECONDS, write report.run, stop);
Script(TYPE SIGNAL INT TERM, write report.run, stop);

report :: Script(TYPE PASSIVE,
  print "$(all.count) IP packets of $(all.byte_count) bytes, $(not_ip.count) others",
  print "$(new_flows.count) flows, $(flows.flows) of them known now; $(no_flow.count) packets of no flow",
  print "Bytes by sender:", write senders.write_ip_file -,
  print "Packets by length:", write lengths.write_text_file -,
  print "Packets by flow:", write volumes.write_text_file -,
  print "Rates (network, bytes/s from it, to it):",
  print $(rates.look));
