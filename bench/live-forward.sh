#!/bin/bash
# Forwarding between veth pairs: the kernel's own, then a program's, in alternation; then the program's losses
# and order at half its rate.
#
#   bench/live-forward.sh [COMMAND...]
#
# COMMAND runs in the middle namespace, pinned to one processor, and forwards between r0 (10.91.1.1/24,
# 02:00:00:91:01:01; host 10.91.1.2 at 02:00:00:91:01:02) and r1 (10.91.2.1/24, 02:00:00:91:02:01; host
# 10.91.2.2 at 02:00:00:91:02:02). Default: the bare forwarder of crates/device.
#
# Environment: ROUNDS (5), SECONDS_EACH (2), FRAME_BYTES (60), RATE (as fast as possible), HOST_CPU (0),
# ROUTER_CPU (1), STEER (0), FAR_HOST (drop or stack), PRIORITY (both: see live-topology.sh). It needs two processors to itself.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/live-topology.sh"
need_root
far_host=${FAR_HOST:-drop}
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-2} bytes=${FRAME_BYTES:-60}
cargo build -q --release -p clickwork-device --examples --manifest-path "$here/../Cargo.toml"
examples=${CARGO_TARGET_DIR:-$here/../target}/release/examples
[ $# -gt 0 ] || set -- "$examples/forward" r0 r1 $LEFT_MAC $RIGHT_MAC

arrived() { in_right cat /sys/class/net/q0/statistics/rx_packets; }

# blast SECONDS [RATE]: the left host sends; prints how many packets were taken
blast() {
    in_left $PRIORITY taskset -c "$HOST_CPU" "$examples/blast" l0 10.91.1.2 10.91.2.2 $R0_MAC "$1" "$bytes" ${2:-}
}

# Packets per second that reach the right host. It throws them away at once, or (FAR_HOST=stack) takes them up its
# stack as a host does, to a UDP port where nobody listens.
rate() {
    local before after sent sink
    if [ "$far_host" = drop ]; then
        ip netns exec "$RIGHT" "$examples/sink" q0 drop &
        sink=$!
        # Both processors are about to be busy: without its filter in place the far host would be measured too.
        sleep 0.3
    fi
    before=$(arrived)
    sent=$(blast "$seconds" "${RATE:-}")
    after=$(arrived)
    if [ "$far_host" = drop ]; then
        kill "$sink"
        wait "$sink" 2> /dev/null || true
    fi
    echo "$(((after - before) / seconds)) $((sent / seconds))"
}

# Loss and order at $1 packets per second.
check() {
    ip netns exec "$RIGHT" taskset -c "$HOST_CPU" "$examples/sink" q0 check $((seconds + 1)) &
    local sink=$!
    sleep 0.3
    echo "at $1/s: sent $(blast "$seconds" "$1")"
    wait "$sink"
}

make_topology
kernel= program=
for round in $(seq "$rounds"); do
    kernel_forwards
    read -r k k_sent < <(rate)
    program_forwards "$@"
    read -r p p_sent < <(rate)
    stop_program
    echo "round $round: kernel $k/s (of $k_sent), program $p/s (of $p_sent)"
    kernel="$kernel $k" program="$program $p"
done
k=$(printf '%s\n' $kernel | median)
p=$(printf '%s\n' $program | median)
echo "median: kernel $k/s, program $p/s, ratio $(awk "BEGIN {printf \"%.2f\", $p / $k}")"
program_forwards "$@"
check "${CHECK_RATE:-$((${p%.*} / 2))}"
