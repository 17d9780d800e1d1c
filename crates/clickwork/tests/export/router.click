// A test: "quotes" & <angles>
define($N 10, $DEV eth0);
require(package foo);
elementclass Chan { $cap, LIMIT $l |
  input -> q :: Queue($cap) // how many
    -> Shaper($N) -> output;
  input [1] -> Null -> [1] output;
}
elementclass Two { input -> (-> a :: Null -> output) -> output || $x | input -> Counter($x) -> output }
src :: InfiniteSource(\<00 ff>, LIMIT 5, DATA "a
b");
c :: Chan(5, LIMIT 3);
src -> Two -> c -> Discard;
Idle -> [1] c [1] -> t :: Two(7) => { input -> MyThing(1) -> output } -> Discard;
