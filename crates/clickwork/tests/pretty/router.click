// What a page must get right: "quotes", <angles> & ampersands.
define($N 10);
elementclass Chan { $cap, LIMIT $l |
  input -> q :: Queue($cap) /* over
  two lines */ -> Shaper($N) -> output;
  input [1] -> Null -> [1] output;
}
a, b :: Counter;
src :: InfiniteSource(LIMIT 5, DATA "a <b>
c", STOP true) -> a -> c :: Chan(5, LIMIT 3) -> Discard;
elementclass Counter2 { input -> q :: Counter -> output }
Idle -> [1] c [1] -> b -> { input -> x :: Counter2 -> output; } -> Discard;
q :: Null; Idle -> q -> Discard;
Script(read a.count, write b.reset);
