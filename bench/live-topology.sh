# Sourced by the live benchmarks: three network namespaces, a host on each side and the router's between.
#
#   left (10.91.1.2) l0 ---- r0 (10.91.1.1)  middle  r1 (10.91.2.1) ---- q0 (10.91.2.2) right
#
# A veth pair hands a packet over on the processor that sent it: the kernel forwards on $HOST_CPU, where the
# left host sends; a program forwards on $ROUTER_CPU, to which it is pinned. STEER=1 moves all receive work of
# the middle namespace to $ROUTER_CPU as well. Then the program shares its processor with the interrupt work
# that feeds it, and an overload starves it ("receive livelock"): offer a fixed RATE in that case.
#
# Needs root. Everything is removed when the script ends, however it ends.

HOST_CPU=${HOST_CPU:-0}
ROUTER_CPU=${ROUTER_CPU:-1}
# On a machine that is not idle, PRIORITY="chrt -f 10" keeps the rest out of the measurement.
PRIORITY=${PRIORITY:-nice -n -20}
PREFIX=cw-bench-$$
LEFT=$PREFIX-left MIDDLE=$PREFIX-mid RIGHT=$PREFIX-right
LEFT_MAC=02:00:00:91:01:02 R0_MAC=02:00:00:91:01:01 R1_MAC=02:00:00:91:02:01 RIGHT_MAC=02:00:00:91:02:02
PROGRAM_PID=

need_root() {
    if [ "$(id -u)" != 0 ]; then
        echo "skipped: $(basename "$0") needs root, for network namespaces"
        exit 0
    fi
    if ! command -v ip > /dev/null; then
        echo "skipped: $(basename "$0") needs ip (iproute2)"
        exit 0
    fi
}

in_left() { ip netns exec "$LEFT" "$@"; }
in_middle() { ip netns exec "$MIDDLE" "$@"; }
in_right() { ip netns exec "$RIGHT" "$@"; }

remove_topology() {
    stop_program
    for ns in "$LEFT" "$MIDDLE" "$RIGHT"; do
        ip netns del "$ns" 2> /dev/null || true
    done
}

# steer NAMESPACE INTERFACE CPU: receive work of the interface is done on that processor
steer() {
    ip netns exec "$1" sh -c "echo $(printf %x $((1 << $3))) > /sys/class/net/$2/queues/rx-0/rps_cpus"
}

make_topology() {
    trap remove_topology EXIT
    trap 'exit 1' INT TERM
    for ns in "$LEFT" "$MIDDLE" "$RIGHT"; do
        ip netns add "$ns"
        ip -n "$ns" link set lo up
    done
    ip link add l0 netns "$LEFT" address $LEFT_MAC type veth peer name r0 netns "$MIDDLE" address $R0_MAC
    ip link add q0 netns "$RIGHT" address $RIGHT_MAC type veth peer name r1 netns "$MIDDLE" address $R1_MAC
    ip -n "$LEFT" addr add 10.91.1.2/24 dev l0
    ip -n "$MIDDLE" addr add 10.91.1.1/24 dev r0
    ip -n "$MIDDLE" addr add 10.91.2.1/24 dev r1
    ip -n "$RIGHT" addr add 10.91.2.2/24 dev q0
    for end in "$LEFT l0" "$MIDDLE r0" "$MIDDLE r1" "$RIGHT q0"; do
        set -- $end
        ip netns exec "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1"
        ip -n "$1" link set "$2" up
    done
    # Known neighbours: no ARP in the middle of a measurement.
    ip -n "$LEFT" neigh add 10.91.1.1 lladdr $R0_MAC dev l0
    ip -n "$RIGHT" neigh add 10.91.2.1 lladdr $R1_MAC dev q0
    ip -n "$MIDDLE" neigh add 10.91.1.2 lladdr $LEFT_MAC dev r0
    ip -n "$MIDDLE" neigh add 10.91.2.2 lladdr $RIGHT_MAC dev r1
    ip -n "$LEFT" route add default via 10.91.1.1
    ip -n "$RIGHT" route add default via 10.91.2.1
    if [ "${STEER:-0}" = 1 ]; then
        steer "$MIDDLE" r0 "$ROUTER_CPU"
        steer "$MIDDLE" r1 "$ROUTER_CPU"
        steer "$LEFT" l0 "$HOST_CPU"
        steer "$RIGHT" q0 "$HOST_CPU"
    fi
}

# What follows turns the forwarding of the middle namespace over to the kernel, or to a program.
kernel_forwards() {
    stop_program
    in_middle sysctl -qw net.ipv4.ip_forward=1
}

program_forwards() {
    in_middle sysctl -qw net.ipv4.ip_forward=0
    ip netns exec "$MIDDLE" $PRIORITY taskset -c "$ROUTER_CPU" "$@" &
    PROGRAM_PID=$!
    wait_until_it_forwards
}

stop_program() {
    [ -n "$PROGRAM_PID" ] || return 0
    kill "$PROGRAM_PID" 2> /dev/null || true
    wait "$PROGRAM_PID" 2> /dev/null || true
    PROGRAM_PID=
}

wait_until_it_forwards() {
    for _ in $(seq 50); do
        if in_left ping -c 1 -W 0.1 -q 10.91.2.2 > /dev/null 2>&1; then return 0; fi
        if ! kill -0 "$PROGRAM_PID" 2> /dev/null; then break; fi
    done
    echo "the program does not forward: ping from 10.91.1.2 to 10.91.2.2 fails" >&2
    exit 1
}

median() { sort -n | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
