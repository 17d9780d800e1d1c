#!/bin/bash
# Round trip of a lone ping through the middle host: the kernel's forwarding, then a program's, in
# alternation; and the processor time of the idle program.
#
#   bench/live-ping.sh [COMMAND...]      (see live-forward.sh for what COMMAND must do)
#
# Environment: ROUNDS (5), PINGS (200), HOST_CPU (0), ROUTER_CPU (1).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/live-topology.sh"
need_root
rounds=${ROUNDS:-5} pings=${PINGS:-200}
cargo build -q --release -p clickwork-device --examples --manifest-path "$here/../Cargo.toml"
examples=${CARGO_TARGET_DIR:-$here/../target}/release/examples
[ $# -gt 0 ] || set -- "$examples/forward" r0 r1 $LEFT_MAC $RIGHT_MAC

# The median round trip in microseconds.
round_trip() {
    in_left taskset -c "$HOST_CPU" ping -n -i 0.01 -c "$pings" 10.91.2.2 |
        sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | awk '{print $1 * 1000}' | median
}

# Processor time used by process $1, in clock ticks (of which there are 100 a second).
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }

make_topology
kernel= program=
for round in $(seq "$rounds"); do
    kernel_forwards
    k=$(round_trip)
    program_forwards "$@"
    p=$(round_trip)
    if [ "$round" = "$rounds" ]; then
        before=$(ticks "$PROGRAM_PID")
        sleep 3
        idle=$(awk "BEGIN {print ($(ticks "$PROGRAM_PID") - $before) / 3}")
    fi
    stop_program
    echo "round $round: kernel $k us, program $p us"
    kernel="$kernel $k" program="$program $p"
done
k=$(printf '%s\n' $kernel | median)
p=$(printf '%s\n' $program | median)
echo "median: kernel $k us, program $p us, difference $(awk "BEGIN {print $p - $k}") us; idle CPU $idle %"
