#!/usr/bin/env bash
# Cycles of protocol processing per packet in the echo test, with the compiler's optimisations and without.
set -euo pipefail
cd "$(dirname "$0")"
root=../../..
prolacc=${PROLACC:-$root/target/release/prolacc}
[ -x "$prolacc" ] || cargo build -q --release --manifest-path $root/Cargo.toml -p clickwork-prolac
tcp=$root/crates/prolac-tcp
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

measure() { # NAME, options of prolacc
    local name=$1; shift
    mkdir -p "$out/$name"
    "$prolacc" @$tcp/tcp/all.list -o "$out/$name/tcp.c" "$@"
    ${CC:-gcc} -O2 ${CFLAGS:-} -I"$out/$name" -I$tcp/include echo.c "$out/$name/tcp.c" -o "$out/$name/echo"
    printf '%-34s' "$name"
    for _ in 1 2 3 4 5; do "$out/$name/echo"; done | sort -n | sed -n 3p
}

# gcc inlines by itself what prolacc leaves; -fno-inline shows what each does.
measure everything
measure without-inlining --no-inline
measure without-dispatch-removal --no-cha
measure with-neither --no-inline --no-cha
CFLAGS=-fno-inline measure everything-gcc-inlines-nothing
CFLAGS=-fno-inline measure nobody-inlines --no-inline
if command -v cargo >/dev/null; then
    # All that a stack does: IP, checksums, demultiplexing, timers, the user's calls.
    cargo build -q --release --manifest-path $root/Cargo.toml -p clickwork-prolac-tcp --example cycles
    for how in "" no-checksums; do
        printf '%-34s' "TcpStack${how:+ $how}"
        for _ in 1 2 3 4 5; do $root/target/release/examples/cycles $how; done | sort -n | sed -n 3p
    done
    cargo build -q --release --manifest-path smoltcp/Cargo.toml
    for how in "" no-checksums; do
        printf '%-34s' "smoltcp${how:+ $how}"
        for _ in 1 2 3 4 5; do smoltcp/target/release/smoltcp-cycles $how; done | sort -n | sed -n 3p
    done
fi
# lwIP's sources are where bench/tcp/run.py has put them.
lwip=$root/target/bench-tcp/lwip/src
if [ -d "$lwip" ]; then
    for plain in 1 0; do
        ${CC:-gcc} -O3 -w -DPLAIN=$plain -I../peers/lwip -I$lwip/include lwip.c $lwip/core/*.c $lwip/core/ipv4/*.c -o "$out/lwip"
        printf '%-34s' "lwIP$([ $plain = 1 ] || echo ' no-checksums')"
        for _ in 1 2 3 4 5; do "$out/lwip"; done | sort -n | sed -n 3p
    done
fi
