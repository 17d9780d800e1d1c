#!/usr/bin/env bash
# How exactly shapers and meters keep their rates on a live veth: packets per second that reach the other end, against what
# the element was told, at 10,000 and 100,000 packets a second of 100 bytes.
#
#   bench/live-rates.sh        needs root
#
# Environment: CLICKWORK (the program), ROUNDS (3), SECONDS_EACH (4).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null; then
    echo "skipped: live-rates.sh needs root and ip (iproute2), for network namespaces"
    exit 0
fi
clickwork=$(realpath "${CLICKWORK:-target/release/clickwork}")
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-4}
scratch=$(mktemp -d)
socket=$scratch/socket
near=cw-rates-$$-near far=cw-rates-$$-far
remove() {
    kill "${router:-}" 2>/dev/null || true
    ip netns del "$near" 2>/dev/null || true
    ip netns del "$far" 2>/dev/null || true
    rm -rf "$scratch"
}
trap remove EXIT
trap 'exit 1' INT TERM
ip netns add "$near"
ip netns add "$far"
ip link add v0 netns "$near" type veth peer name v1 netns "$far"
for end in "$near v0" "$far v1"; do
    set -- $end
    ip netns exec "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1"
    ip -n "$1" link set "$2" up
done

# Elements that make a stream of $1 packets a second out of more, or refuse the rest.
source='InfiniteSource(LENGTH 86, BURST 1) -> EtherEncap(0x88b5, 2:0:0:0:0:1, 2:0:0:0:0:2)'
plenty() { echo "RatedSource(LENGTH 86, RATE $(($1 * 3 / 2))) -> EtherEncap(0x88b5, 2:0:0:0:0:1, 2:0:0:0:0:2)"; }
elements=(RatedSource Shaper BandwidthShaper RatedUnqueue BandwidthRatedUnqueue RatedSplitter Meter)
config() {
    local bandwidth=$(($2 * 100))
    case $1 in
        RatedSource) echo "RatedSource(LENGTH 86, RATE $2) -> EtherEncap(0x88b5, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Queue -> ToDevice(v0)" ;;
        Shaper) echo "$source -> Queue -> Shaper($2) -> ToDevice(v0)" ;;
        BandwidthShaper) echo "$source -> Queue -> BandwidthShaper(${bandwidth}Bps) -> ToDevice(v0)" ;;
        RatedUnqueue) echo "$source -> Queue -> RatedUnqueue($2) -> Queue -> ToDevice(v0)" ;;
        BandwidthRatedUnqueue) echo "$source -> Queue -> BandwidthRatedUnqueue(${bandwidth}Bps) -> Queue -> ToDevice(v0)" ;;
        RatedSplitter) echo "$(plenty "$2") -> RatedSplitter($2) -> Queue -> ToDevice(v0)" ;;
        Meter) echo "RatedSource(LENGTH 86, RATE $2) -> EtherEncap(0x88b5, 2:0:0:0:0:1, 2:0:0:0:0:2) -> m :: Meter($(($2 * 2)))
            -> Queue -> ToDevice(v0); m [1] -> Discard" ;;
    esac
}

arrived() { ip netns exec "$far" cat /sys/class/net/v1/statistics/rx_packets; }

# What the meter says, averaged over so many seconds.
metered() {
    for _ in $(seq $((seconds * 20))); do
        sleep 0.05
        "$clickwork" ctl "$socket" read m.rate
    done | awk '{sum += $1} END {print sum / NR}'
}

# Packets per second, between two readings of a clock; for the meter, how much that differs from what it says.
measure() {
    local from=$(arrived) begin=$EPOCHREALTIME
    local meter=0
    if [ "$1" = Meter ]; then meter=$(metered); else sleep "$seconds"; fi
    local to=$(arrived) end=$EPOCHREALTIME
    local passed=$(awk "BEGIN {printf \"%.1f\", ($to - $from) / ($end - $begin)}")
    if [ "$1" = Meter ]; then
        awk "BEGIN {printf \"%.1f\\n\", $meter * $2 / $passed}"
    else
        echo "$passed"
    fi
}

printf '| element | told | measured, median of %s | off by |\n|---|---|---|---|\n' "$rounds"
for rate in 10000 100000; do
    for element in "${elements[@]}"; do
        config "$element" "$rate" >"$scratch/config.click"
        ip netns exec "$near" taskset -c 1 "$clickwork" run --quiet -u "$socket" "$scratch/config.click" &
        router=$!
        sleep 1.5
        measured=$(for _ in $(seq "$rounds"); do measure "$element" "$rate"; done | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}')
        kill "$router"
        wait "$router" 2>/dev/null || true
        rm -f "$socket"
        awk "BEGIN {printf \"| %s | %d | %.1f | %+.2f %% |\\n\", \"$element\", $rate, $measured, ($measured / $rate - 1) * 100}"
    done
done
