"""servers.py - starts and stops servers for tests, provides a client that returns replies
unchanged, and prints TAP.

The client distinguishes RESP2 from RESP3: errors are values, and maps and booleans differ from
arrays and integers.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

MODULE = os.environ["module"]
REDISBLOOM = os.environ.get("redisbloom", "")
PRELOAD = os.environ.get("preload", "")  # LD_PRELOAD library for servers with the tested module


class Error(str):
    """The complete text of an error reply, whose first word is the error code."""


class Map(dict):
    """A map reply, which exists only in RESP3."""


class Connection:
    def __init__(self, address, protocol=2):
        if isinstance(address, int):
            self.socket = socket.create_connection(("127.0.0.1", address))
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        self.file = self.socket.makefile("rb", 1 << 16)
        if protocol == 3:
            self("HELLO", 3)

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            data = word if isinstance(word, (bytes, bytearray)) else str(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
        self.socket.sendall(b"".join(parts))

    def receive(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        size = int(rest)
        if size < 0:
            return None
        if kind in b"$=":
            data = self.file.read(size + 2)[:-2]
            return data[4:] if kind == b"=" else data
        if kind in b"*~>":
            return [self.receive() for _ in range(size)]
        if kind == b"%":
            return Map((self.receive(), self.receive()) for _ in range(size))
        raise ValueError(f"unknown reply {line!r}")

    def __call__(self, *words):
        self.send(*words)
        return self.receive()

    def pipeline(self, commands):
        for words in commands:
            self.send(*words)
        return [self.receive() for _ in commands]

    def subscribe(self, *patterns):
        self.send("PSUBSCRIBE", *patterns)
        for _ in patterns:
            self.receive()


def free_port():
    """Returns a free port for which the cluster bus port is also free."""
    while True:
        with contextlib.closing(socket.socket()) as one, contextlib.closing(socket.socket()) as two:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port > 55000:
                continue
            try:
                two.bind(("127.0.0.1", port + 10000))
            except OSError:
                continue
            return port


class Server:
    """A server whose folder contains its data and its socket. If port=True, the server also listens
    on a port."""

    def __init__(self, program, *options, module=MODULE, port=False, arguments=(), env=None):
        self.program, self.options, self.module = program, options, module
        self.folder = tempfile.mkdtemp()
        self.socket = self.folder + "/socket"
        self.port = free_port() if port else 0
        self.arguments, self.env = arguments, env
        if PRELOAD and module == MODULE:
            self.env = {**(env or os.environ), "LD_PRELOAD": PRELOAD}
        self.log = self.folder + "/log"
        self.start()

    def start(self):
        options = ["--port", str(self.port), "--unixsocket", self.socket, "--dir", self.folder]
        options += ["--save", "", "--enable-debug-command", "yes", *self.options]
        if self.module:
            options += ["--loadmodule", self.module, *self.arguments]
        with open(self.log, "a") as log:
            words = [self.program, *map(str, options)]
            self.process = subprocess.Popen(
                words, stdout=log, stderr=subprocess.STDOUT, env=self.env
            )
        self.wait_until_up()

    def wait_until_up(self):
        for _ in range(600):
            if self.process.poll() is not None:
                raise RuntimeError("the server has ended:\n" + self.read_log()[-2000:])
            try:
                if self.connect()("PING") in ("PONG", "NOAUTH Authentication required."):
                    return
            except OSError:
                pass
            time.sleep(0.1)
        self.stop(signal.SIGKILL)
        raise RuntimeError("the server does not answer:\n" + self.read_log()[-2000:])

    def read_log(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def connect(self, protocol=2):
        return Connection(self.socket, protocol)

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def wait_for(what, seconds=60, pause=0.05):
    """Waits until what() is true. The time limit is long, so it is exceeded only if the condition
    never becomes true."""
    for _ in range(int(seconds / pause)):
        if what():
            return True
        time.sleep(pause)
    return False


class Tap:
    """Prints TAP lines: each promise and, if it was broken, the value found."""

    def __init__(self, about):
        self.about, self.count, self.failed = about, 0, 0

    def ok(self, what, good, *seen):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {self.about}: {what}", flush=True)
        if not good:
            for item in seen:
                print("# " + repr(item)[:600], flush=True)

    def equal(self, what, seen, wanted):
        self.ok(what, seen == wanted and type(seen) is type(wanted), seen, wanted)

    def equals(self, what, pairs):
        """Tests a promise with many cases, each of which is a tuple (seen, wanted, ...)."""
        bad = [pair for pair in pairs if not is_same(pair[0], pair[1])]
        self.ok(what, not bad, *bad[:5])


def is_same(seen, wanted):
    """Returns True if both values are equal and have the same type, so True differs from 1, and an
    error from a string."""
    if type(seen) is not type(wanted):
        return False
    if isinstance(seen, list):
        return len(seen) == len(wanted) and all(map(is_same, seen, wanted))
    if isinstance(seen, dict):
        return list(seen) == list(wanted) and all(is_same(seen[k], wanted[k]) for k in seen)
    return seen == wanted
