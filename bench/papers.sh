#!/usr/bin/env bash
# What the routers of the papers cost side by side (TOCS 2000, Figure 11 and Section 7): Simple, Switch, IP, IP with RED, IP with
# stochastic fair queueing, IPv6, in memory.
#
# Processor time per packet from the difference of a short and a long run, medians of 7 rounds; in a round all routers take turns,
# so that what else the machine does meets them alike. Time is simulated, since a switch waits before it forwards.
# CLICKWORK names the program, ROUNDS the rounds, FEW and MANY how many packets a run has.
set -euo pipefail
cd "$(dirname "$0")/.."
clickwork=${CLICKWORK:-target/release/clickwork}
rounds=${ROUNDS:-7} few=${FEW:-1000000} many=${MANY:-9000000}
router=bench/ip-router-mem.click
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The IP router with other elements in the place of its queues.
queues() { sed "s/Queue(1024)/{ $1 }/g" "$router"; }

routers=(simple switch ip ip+red ip+sfq ip6)
cp "$router" "$scratch/ip"
cp bench/ip6-router-mem.click "$scratch/ip6"
queues 'input -> RED(200, 800, 0.02) -> Queue(1024) -> output' >"$scratch/ip+red"
sfq='input -> flows :: HashSwitch(26, 8); all :: RoundRobinSched -> output;'
for n in 0 1 2 3; do sfq+=" flows [$n] -> Queue(256) -> [$n] all;"; done
queues "$sfq" >"$scratch/ip+sfq"

frames() { # from a source without end: destination and source addresses, the rest as in the IP router
    echo "InfiniteSource(DATA \\<$1 $2 0800 4500002e000000004011 66bb 0a000002 0a010002 1369 1369 001a0000
        000102030405060708090a0b0c0d0e0f1011>, LIMIT $3, BURST 32, STOP $4)"
}
here=00000c0000ff there=00000c000001
{
    echo 'define($N 4000000);'
    echo "$(frames $there $here '$N' true) -> Queue(1024) -> cnt :: Counter -> Discard(BURST 32);"
} >"$scratch/simple"

# Figure 16, after the ports have begun to forward. The destination has sent a frame, so the switch knows where it is.
cat >"$scratch/switch" <<END
define(\$N 4000000);
from, to :: Suppressor; switch :: EtherSwitch;
tree :: EtherSpanTree(00:00:0c:00:00:0a, from, to, switch);
elementclass Port { input -> kind :: Classifier(0/0180C2000000, 0/0180C2000000%FFFFFFFFFFF0, -) [2] -> output;
    kind [0] -> [1] output; kind [1] -> Discard }
src :: $(frames $there $here '$N' true) -> p0 :: Port -> [0] from [0] -> [0] switch [0] -> [0] to [0] -> q0 :: Queue(1024) -> Discard(BURST 32);
heard :: $(frames $here $there 1 false) -> p1 :: Port -> [1] from [1] -> [1] switch [1] -> [1] to [1] -> q1 :: Queue(1024)
    -> cnt :: Counter -> Discard(BURST 32);
p0 [1] -> [0] tree [0] -> q0; p1 [1] -> [1] tree [1] -> q1;
Script(wait 40s, write heard.active true, wait 1s, write src.active true);
END
sed -i 's/STOP \(true\|false\))/STOP \1, ACTIVE false)/' "$scratch/switch"

seconds() { # of processor time that a run of router $1 with $2 packets takes
    local TIMEFORMAT='%3U %3S'
    { time "$clickwork" run --quiet --simtime "$scratch/$1" N="$2" >/dev/null 2>"$scratch/errors"; } 2>&1 | awk '{print $1 + $2}'
}

for router in "${routers[@]}"; do
    count=$("$clickwork" run --quiet --simtime "$scratch/$router" N=100000 -h cnt.count 2>"$scratch/errors") || { cat "$scratch/errors" >&2; exit 1; }
    if [ "${count##*[!0-9]}" -lt 70000 ]; then echo "$router: only $count of 100000 packets came through" >&2; exit 1; fi
done
for _ in $(seq "$rounds"); do
    for router in "${routers[@]}"; do
        short=$(seconds "$router" "$few") long=$(seconds "$router" "$many")
        awk "BEGIN {printf \"%.3f\n\", ($long - $short) * 1e9 / ($many - $few)}" >>"$scratch/$router.ns"
    done
done

printf '| %-8s | %8s | %14s |\n|---|---|---|\n' router ns "least to most"
for router in "${routers[@]}"; do
    sort -n "$scratch/$router.ns" | awk -v router="$router" \
        '{v[NR] = $1} END {printf "| %-8s | %8.1f | %5.1f to %5.1f |\n", router, v[int((NR + 1) / 2)], v[1], v[NR]}'
done
