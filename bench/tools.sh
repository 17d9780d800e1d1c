#!/usr/bin/env bash
# How long the tools take on the IP router, from start to finish, in milliseconds: median of 11 runs, and the fastest.
# Fails if the median of one is above 30 ms on either configuration. CLICKWORK names the program, ROUNDS how many runs, LIMIT
# another limit.
# usage: bench/tools.sh [TOOL...]     default: all tools
set -euo pipefail
cd "$(dirname "$0")/.."
clickwork=$(realpath "${CLICKWORK:-target/release/clickwork}")
rounds=${ROUNDS:-11}
limit=${LIMIT:-30}
routers=(examples/ip-router.click bench/ip-router-mem.click)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What is run of each tool; {} is the router.
commands=(
    "flatten {}" "check {}" "check --types {}" "fastclassifier {}" "xform -p ip {}" "devirtualize {}" "undead {}" "align {}"
    "combine a={} b={}" "uncombine COMBINED a" "mkmindriver --list {}" "pretty {}" "xml {}" "json {}"
)

milliseconds() { # of one run of a command
    local begin=$EPOCHREALTIME end
    "$clickwork" "$@" >"$scratch/out" 2>"$scratch/errors" || { cat "$scratch/errors" >&2; return 1; }
    end=$EPOCHREALTIME
    echo $(( ${end/./} - ${begin/./} )) | awk '{printf "%.1f\n", $1 / 1000}'
}

summary() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)], v[1]}'; } # median and fastest

is_there() { "$clickwork" "$1" --help >/dev/null 2>&1; }

printf '| %-24s |' "tool, ms"
for router in "${routers[@]}"; do printf ' %22s |' "$(basename "$router")"; done
printf '\n|---|---|---|\n'
failed=0
for command in "${commands[@]}"; do
    read -r tool _ <<<"$command"
    if [ $# -gt 0 ] && [[ " $* " != *" $tool "* ]]; then continue; fi
    if ! is_there "$tool"; then echo "skipped: there is no $tool" >&2; continue; fi
    name=${command//[ab]=\{\}/}; name=${name// \{\}/}; name=${name/COMBINED a/}
    printf '| %-24s |' "$name"
    for router in "${routers[@]}"; do
        words=${command//\{\}/$router}
        if [[ $words == *COMBINED* ]]; then
            "$clickwork" combine "a=$router" "b=$router" >"$scratch/combined" 2>/dev/null
            words=${words/COMBINED/$scratch/combined}
        fi
        # shellcheck disable=SC2086
        times=$(for _ in $(seq "$rounds"); do milliseconds $words || exit 1; done | summary)
        read -r median fastest <<<"$times"
        printf ' %22s |' "$median, $fastest"
        if awk "BEGIN {exit !($median > $limit)}"; then failed=1; fi
    done
    echo
done
[ "$failed" = 0 ] || { echo "a tool takes longer than $limit ms" >&2; exit 1; }
