#!/usr/bin/env python3
"""How long a router of 100,000 elements keeps everybody waiting while somebody reads what grows with it.

usage: bench/large-reads.py [COMMAND...]      default: target/release/clickwork run
A router that forwards packets, too. One connection reads `flatconfig`, `list` and `config` ten times each; another reads a counter all the time.
Prints for each the first time and the median of one read, and the longest and the median time of the other connection's reads, in milliseconds.
"""
import multiprocessing, os, socket, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND = sys.argv[1:] or [os.path.join(ROOT, 'target/release/clickwork'), 'run']
ELEMENTS = 100_000
CONFIG = 'InfiniteSource(LENGTH 64) -> k :: Counter -> Discard;\n' + ''.join(
    f'Idle -> n{i} :: Counter -> Discard;\n' for i in range(ELEMENTS // 3))


class Client:
    """A control connection."""

    def __init__(self, path):
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(path)
        self.stream = self.control.makefile('rb')
        self.stream.readline()

    def read(self, handler):
        """The seconds that reading a handler takes, and the bytes that came."""
        begun = time.perf_counter()
        self.control.sendall(f'READ {handler}\n'.encode())
        line = self.stream.readline()
        if not line.startswith(b'200'):
            sys.exit(f'{handler}: {line.decode()}')
        length = int(self.stream.readline().split()[1])
        self.stream.read(length)
        return time.perf_counter() - begun, length


def connected(path, router):
    """A connection to the socket as soon as somebody listens there."""
    while router.poll() is None:
        try:
            return Client(path)
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.01)
    sys.exit('the router did not start')


def ask(path, done, answer):
    """Reads a counter until `done`; answers with the milliseconds that each read took."""
    client, waits = Client(path), []
    while not done.is_set():
        waits.append(1000 * client.read('k.count')[0])
    answer.put(waits)


def main():
    folder = tempfile.mkdtemp()
    path, file = os.path.join(folder, 'control'), os.path.join(folder, 'large.click')
    with open(file, 'w') as out:
        out.write(CONFIG)
    router = subprocess.Popen(COMMAND + ['-u', path, file], stdin=subprocess.DEVNULL)
    try:
        reader = connected(path, router)
        for handler in ('flatconfig', 'list', 'config'):
            done, answer = multiprocessing.Event(), multiprocessing.Queue()
            multiprocessing.Process(target=ask, args=(path, done, answer)).start()
            time.sleep(0.5)
            reads = [reader.read(handler) for _ in range(10)]
            done.set()
            waits = answer.get()
            first, median = 1000 * reads[0][0], 1000 * statistics.median(took for took, _ in reads)
            print(f'{handler}: {reads[0][1]} bytes, first {first:.1f}, median {median:.1f}; '
                  f'others wait at most {max(waits):.2f}, median {statistics.median(waits):.2f} ({len(waits)} reads)')
    finally:
        router.kill()


main()
