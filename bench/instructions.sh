#!/usr/bin/env bash
# Instructions per forwarded packet of the in-memory IP router: repeatable where nanoseconds are not.
# Fails if there are more than bench/instructions.max says, so that a slower path does not slip in unseen.
# usage: bench/instructions.sh [COMMAND...]     default: target/release/clickwork run
# LIMIT says how many there may be instead.
set -euo pipefail
cd "$(dirname "$0")/.."
command=("${@:-target/release/clickwork}")
[ $# -gt 0 ] || command+=(run)

# Many machines have perf but, being virtual, no counters: valgrind counts there.
if perf stat -x, -e instructions:u true 2>&1 | grep -q "^[0-9]"; then
    counter=perf
elif command -v valgrind >/dev/null; then
    counter=valgrind
else
    echo "not run: neither the counters of perf nor valgrind are there to count instructions"
    exit "${REQUIRE_ORACLES:-0}"
fi

count() { # instructions of a run over $1 packets
    local run=("${command[@]}" bench/ip-router-mem.click N="$1") said
    if [ $counter = perf ]; then
        said=$(perf stat -x, -e instructions:u -- "${run[@]}" 2>&1 | awk -F, '/instructions/ {print $1}')
    else
        said=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "${run[@]}" 2>&1 | awk '/Collected/ {print $NF}')
    fi
    [[ $said =~ ^[0-9]+$ ]] || { echo "$counter counted nothing; this is how: ${run[*]}" >&2; exit 1; }
    echo "$said"
}

few=200000
many=1000000
most=$(count $many)
least=$(count $few)
per_packet=$(( (most - least) / (many - few) ))
limit=${LIMIT:-$(cat bench/instructions.max)}
echo "$per_packet instructions per packet (at most $limit), counted by $counter"
[ "$per_packet" -le "$limit" ]
