#!/usr/bin/env python3
"""Time of a hot swap of the in-memory IP router (50 elements), as the writer of `hotconfig` sees it.

usage: bench/hot-swap.py [--devices] [COMMAND...]      default: target/release/clickwork run
With --devices, as root: examples/ip-router-live.click between two veth interfaces in a network namespace. Prints the median of 21 swaps in milliseconds, and the start-up time and memory of the program.
"""
import os, re, socket, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEVICES = sys.argv[1:2] == ['--devices']
COMMAND = sys.argv[1 + DEVICES:] or [os.path.join(ROOT, 'target/release/clickwork'), 'run']
NAMESPACE = f'hot-swap-{os.getpid()}'
if DEVICES:
    CONFIG = open(os.path.join(ROOT, 'examples/ip-router-live.click')).read()
    COMMAND = ['ip', 'netns', 'exec', NAMESPACE] + COMMAND
else:
    CONFIG = open(os.path.join(ROOT, 'bench/ip-router-mem.click')).read()
    # The source waits: what is measured is the swap, not the forwarding.
    CONFIG = CONFIG.replace('STOP true', 'STOP false, ACTIVE false')


def ip(words):
    subprocess.run(['ip'] + words.split(), check=True)


def make_devices():
    """The interfaces that the example names, each with another end."""
    ip(f'netns add {NAMESPACE}')
    for name in ('eth0', 'eth1'):
        ip(f'-n {NAMESPACE} link add {name} type veth peer name far-{name}')
        for end in (name, f'far-{name}'):
            ip(f'-n {NAMESPACE} link set {end} up')


def answer(stream):
    """The last line of a response: `200 OK` or the like."""
    while True:
        line = stream.readline().decode().rstrip()
        if not line[3:4] == '-':
            return line


def connected(path):
    """A connection to the socket, which is there a moment before somebody listens."""
    for _ in range(1000):
        control = socket.socket(socket.AF_UNIX)
        try:
            control.connect(path)
            return control
        except ConnectionRefusedError:
            time.sleep(0.001)
    sys.exit('nobody listens')


def main():
    path = os.path.join(tempfile.mkdtemp(), 'control')
    if DEVICES:
        make_devices()
    begun = time.perf_counter()
    router = subprocess.Popen(COMMAND + ['-R', '-u', path, '-e', CONFIG], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(path):
            time.sleep(0.0002)
        started = time.perf_counter() - begun
        control = connected(path)
        stream = control.makefile('rb')
        stream.readline()
        times = []
        for _ in range(21):
            data = CONFIG.encode()
            begun = time.perf_counter()
            control.sendall(b'WRITEDATA hotconfig %d\n' % len(data) + data)
            reply = answer(stream)
            times.append((time.perf_counter() - begun) * 1e3)
            if not reply.startswith('200'):
                sys.exit('swap refused: ' + reply)
        memory = re.search(r'VmHWM:\s*(\d+)', open(f'/proc/{router.pid}/status').read()).group(1)
        print(f'hot swap {statistics.median(times):.2f} ms (worst {max(times):.2f}), start {started * 1e3:.1f} ms, '
              f'memory {int(memory) / 1024:.1f} MB')
    finally:
        router.terminate()
        router.wait()
        if DEVICES:
            ip(f'netns del {NAMESPACE}')


if __name__ == '__main__':
    main()
