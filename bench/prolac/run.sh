#!/bin/bash
# Compares the receive path in Prolac (receive.pc) with the same by hand in C (hand.c): instructions per packet and time.
# Usage: bench/prolac/run.sh [CC]. Exits 1 if a goal is missed: within 3 % of the instructions of the C, and at least twice
# as fast as with --no-inline --no-cha. Needs `perf`, or `valgrind` where there are no counters.
set -e
cd "$(dirname "$0")"
CC=${1:-gcc}
ROUNDS=${ROUNDS:-11}
PACKETS=$((4096 * 1000))
cargo build --release -q -p clickwork-prolac
PROLACC=${CARGO_TARGET_DIR:-../../target}/release/prolacc
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

variant() { # NAME PROLACC-OPTIONS...
    local dir=$WORK/$1
    mkdir "$dir"
    "$PROLACC" receive.pc -o "$dir/receive.c" "${@:2}"
    $CC -O2 -Wall -Wextra -I"$dir" -I. -o "$WORK/bench-$1" main.c hand.c "$dir/receive.c"
}
variant full
variant no-inline --no-inline
variant no-cha --no-cha
variant neither --no-inline --no-cha
$CC -O2 -Wall -Wextra -DHAND -I. -o "$WORK/bench-hand" main.c hand.c

perf=$(perf stat -x, -e instructions:u true 2>&1 | grep -c '^[0-9]' || true)
count() { # PROGRAM PACKETS: instructions
    if [ "$perf" = 1 ]; then
        perf stat -x, -e instructions:u "$1" "$2" 2>&1 >/dev/null | cut -d, -f1
    else
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" 2>&1 >/dev/null | awk '/Collected/ {print $4}'
    fi
}
time_of() { # PROGRAM: cycles per packet, which other programs disturb less than nanoseconds; those if there is no counter
    if [ "$perf" = 1 ]; then
        perf stat -x, -e cycles:u "$1" $PACKETS 2>&1 >/dev/null | awk -F, "{ print \$1 / $PACKETS }"
    else
        "$1" $PACKETS | cut -d' ' -f3
    fi
}
instructions() { # PROGRAM: per packet
    awk "BEGIN { printf \"%.1f\", ($(count "$1" 81920) - $(count "$1" 40960)) / 40960 }"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

VARIANTS="hand full no-inline no-cha neither"
expected=$("$WORK/bench-hand" $PACKETS | cut -d' ' -f1,2)
for v in $VARIANTS; do
    [ "$("$WORK/bench-$v" $PACKETS | cut -d' ' -f1,2)" = "$expected" ] || { echo "$v computes something else"; exit 1; }
done
for _ in $(seq "$ROUNDS"); do
    for v in $VARIANTS; do time_of "$WORK/bench-$v" >>"$WORK/times-$v"; done
done
hand_count=$(instructions "$WORK/bench-hand")
hand_time=$(median <"$WORK/times-hand")
printf '%-10s %22s %8s %16s %8s\n' "" "instructions/packet" ratio "$([ "$perf" = 1 ] && echo cycles || echo ns)/packet" ratio
for v in $VARIANTS; do
    n=$(instructions "$WORK/bench-$v")
    t=$(median <"$WORK/times-$v")
    awk "BEGIN { printf \"%-10s %22s %8.3f %16.2f %8.2f\n\", \"$v\", $n, $n / $hand_count, $t, $t / $hand_time }"
    case $v in
    full) full_count=$n full_time=$t ;;
    neither) slow_time=$t ;;
    esac
done
awk "BEGIN { exit !($full_count <= 1.03 * $hand_count && $slow_time >= 2 * $full_time) }" || { echo "a goal is missed"; exit 1; }
