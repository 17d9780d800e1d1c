#!/usr/bin/env bash
# Instructions per forwarded packet of the in-memory IP router: repeatable where nanoseconds are not.
# Fails if there are more than bench/instructions.max says, so that a slower path does not slip in unseen.
# usage: bench/instructions.sh [COMMAND...]     default: target/release/clickwork run
# LIMIT says how many there may be instead.
set -euo pipefail
cd "$(dirname "$0")/.."
command=("${@:-target/release/clickwork}")
[ $# -gt 0 ] || command+=(run)

count() { # instructions of a run over $1 packets
    if perf stat -x, -e instructions:u true 2>&1 | grep -q '^[0-9]'; then
        perf stat -x, -e instructions:u -o /dev/stdout -- "${command[@]}" bench/ip-router-mem.click N="$1" 2>/dev/null | awk -F, '/instructions/ {print $1}'
    else
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "${command[@]}" bench/ip-router-mem.click N="$1" 2>&1 |
            awk '/Collected/ {print $NF}'
    fi
}

if ! command -v perf >/dev/null && ! command -v valgrind >/dev/null; then
    echo "not run: neither perf nor valgrind is there to count instructions"
    exit "${REQUIRE_ORACLES:-0}"
fi
few=200000
many=1000000
per_packet=$(( ($(count $many) - $(count $few)) / (many - few) ))
limit=${LIMIT:-$(cat bench/instructions.max)}
echo "$per_packet instructions per packet (at most $limit)"
[ "$per_packet" -le "$limit" ]
