#!/usr/bin/env bash
# Figure 9 of "Programming language optimizations for modular router configurations" (ASPLOS 2002) on our router: what
# fastclassifier, xform, devirtualize and all together save of forwarding a packet in memory, and the whole router compiled.
#
# Processor time per packet from the difference of a short and a long run, medians of 7 rounds; in a round all variants take turns,
# so that what else the machine does meets them alike. Then instructions per packet, where they can be counted.
# CLICKWORK names the program, ROUNDS the rounds, FEW and MANY how many packets a run has.
set -euo pipefail
cd "$(dirname "$0")/.."
clickwork=${CLICKWORK:-target/release/clickwork}
rounds=${ROUNDS:-7} few=${FEW:-1000000} many=${MANY:-9000000}
router=bench/ip-router-mem.click
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CLICKWORK_CACHE=$scratch/cache

variants=(base fastclassifier xform devirtualize all compiled)
"$clickwork" flatten "$router" >"$scratch/base"
"$clickwork" fastclassifier "$router" >"$scratch/fastclassifier"
"$clickwork" xform -p ip "$router" >"$scratch/xform"
"$clickwork" devirtualize "$router" >"$scratch/devirtualize"
"$clickwork" xform -p ip "$router" | "$clickwork" fastclassifier | "$clickwork" devirtualize >"$scratch/all"
cp "$scratch/xform" "$scratch/compiled" # by 'run --compiled': everything that can be

time=
run() { # a variant with $2 packets; further words stand before the command
    local options=(--quiet $time) file=$scratch/$1 packets=$2
    shift 2
    if [ "$file" = "$scratch/compiled" ]; then options+=(--compiled); fi
    "$@" "$clickwork" run "${options[@]}" "$file" N="$packets" 2>"$scratch/errors" || { cat "$scratch/errors" >&2; exit 1; }
}

seconds() { # of processor time that a run takes
    local TIMEFORMAT='%3U %3S'
    { time run "$1" "$2" >/dev/null; } 2>&1 | awk '{print $1 + $2}'
}

instructions() { # of a run
    if [ "$counter" = perf ]; then
        run "$1" "$2" perf stat -x, -e instructions:u -o /dev/stdout -- | awk -F, '/instructions/ {print $1}'
    else
        run "$1" "$2" valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=/dev/stdout |
            awk '/Collected/ {print $NF}'
    fi
}

counter=none
if command -v valgrind >/dev/null; then counter=valgrind; fi
if perf stat -x, -e instructions:u true 2>&1 | grep -q '^[0-9]'; then counter=perf; fi

# What is to be compiled is compiled now: a run in simulated time waits for it.
time=--simtime
for variant in "${variants[@]}"; do run "$variant" 1000; done
time=

for _ in $(seq "$rounds"); do
    for variant in "${variants[@]}"; do
        short=$(seconds "$variant" "$few") long=$(seconds "$variant" "$many")
        awk "BEGIN {printf \"%.3f\n\", ($long - $short) * 1e9 / ($many - $few)}" >>"$scratch/$variant.ns"
    done
done

median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
base=$(median "$scratch/base.ns")
printf '| %-15s | %8s | %14s | %6s | %12s |\n' variant ns "least to most" "saves" instructions
echo '|---|---|---|---|---|'
for variant in "${variants[@]}"; do
    ns=$(median "$scratch/$variant.ns")
    range=$(sort -n "$scratch/$variant.ns" | awk '{v[NR] = $1} END {printf "%.1f to %.1f", v[1], v[NR]}')
    saves=$(awk "BEGIN {printf \"%.0f %%\", (1 - $ns / $base) * 100}")
    count="not counted"
    if [ "$counter" != none ]; then
        fewer=200000 more=1000000
        count=$(( ($(instructions "$variant" $more) - $(instructions "$variant" $fewer)) / (more - fewer) ))
    fi
    printf '| %-15s | %8.1f | %14s | %6s | %12s |\n' "$variant" "$ns" "$range" "$saves" "$count"
done
