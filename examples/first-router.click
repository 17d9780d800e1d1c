// first-router.click: a first router of ten lines. It makes packets for two destinations and routes them.
//
//    InfiniteSource -> SetIPAddress ---.                         .-> Counter -> Discard   (10.0.0.0/8)
//                                      +--> StaticIPLookup ------+
//    InfiniteSource -> SetIPAddress ---'                         '-> Counter -> Discard   (all others)
//
// Run it, and ask both counters:
//
//    clickwork run examples/first-router.click -h near.count -h far.count
//
// Then change a route, or the number of packets, and run it again. 'clickwork doc StaticIPLookup' says more.

routes :: StaticIPLookup(10.0.0.0/8 0, 0.0.0.0/0 1);

InfiniteSource(LIMIT 3) -> SetIPAddress(10.1.2.3) -> routes;
InfiniteSource(LIMIT 5) -> SetIPAddress(192.0.2.7) -> routes;

routes [0] -> near :: Counter -> Discard;
routes [1] -> far :: Counter -> Discard;

DriverManager(wait 1ms, stop);
