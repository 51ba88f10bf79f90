# SPDX-License-Identifier: Apache-2.0
"""A private primary with its replica, and sentinels that look after them, on 127.0.0.1."""
import dataclasses
import os
import subprocess

from ports import free_port
from redisserver import Connection, Error, RedisServer
from weirserver import wait_until

NAME = "main"
# After so long a silent primary is held to be dead. A busy machine lets one wait, so the first is for as long as none
# dies.
PATIENT_MS, HASTY_MS = 60000, 1000
# How often sentinels look, in ms. Their own are up to 10 s. One that was held up for long, and takes its clock for a
# broken one, does nothing for half a minute, unless told otherwise.
PERIODS = ("info-period", 200, "ping-period", 200, "ask-period", 200, "publish-period", 200, "tilt-trigger", 60000)


@dataclasses.dataclass
class Security:
    """password: empty: none. pair: a certificate, which has the port speak TLS; ca: who vouches for it."""
    password: str = ""
    pair: object = None
    ca: object = None

    def settings(self, tls_port):
        """As {name: value} of a configuration."""
        all_of_it = {}
        if self.password:
            all_of_it["requirepass"] = self.password
        if self.pair:
            all_of_it.update({"tls-port": tls_port, "tls-cert-file": self.pair.cert, "tls-key-file": self.pair.key,
                              "tls-ca-cert-file": self.ca.cert, "tls-auth-clients": "no"})
        return all_of_it


def call(port, password, *words):
    with Connection(port) as c:
        if password:
            c.call("AUTH", password)
        return c.call(*words)


class Node:
    """A server. With TLS it has a plain port beside, by which the test looks into it."""

    def __init__(self, program, folder, security):
        self.server, self.security = RedisServer(program, folder), security
        self.tls_port = free_port() if security.pair else None

    def start(self, of=None):
        """of: the primary of a replica."""
        settings = self.security.settings(self.tls_port)
        if self.security.password:
            settings["masterauth"] = self.security.password
        if self.security.pair:
            settings["tls-replication"] = "yes"
        settings["repl-diskless-sync-delay"] = 0
        words = [word for name, value in settings.items() for word in ("--" + name, str(value))]
        if of:
            words += ["--replicaof", f"127.0.0.1 {of.port}"]
        self.server.start(*words)
        return self

    @property
    def port(self):
        """Where clients and sentinels come to."""
        return self.tls_port or self.server.port

    def call(self, *words):
        """A look, asked again when the connection ends: sentinels end all of them when they change a node's role."""
        for _ in range(10):
            try:
                return call(self.server.port, self.security.password, *words)
            except ConnectionError:
                assert self.server.process.poll() is None, "the node is gone"
        raise AssertionError("no connection stays")

    def is_primary(self):
        return self.call("ROLE")[0] == b"master"

    def is_in_step(self):
        role = self.call("ROLE")
        return role[0] == b"slave" and role[3] == b"connected"

    def n_counted(self):
        """How often it ran Weir's script itself: a replica gets the script's effects alone."""
        stats = self.call("INFO", "commandstats").decode()
        lines = [line for line in stats.splitlines() if line.startswith("cmdstat_evalsha:calls=")]
        return int(lines[0].partition("=")[2].partition(",")[0]) if lines else 0


class Sentinel:
    """One process."""

    def __init__(self, program, folder, security):
        self.program, self.folder, self.security = program, str(folder), security
        self.port, self.tls_port, self.process = None, free_port() if security.pair else None, None

    def write(self, port, primary, quorum):
        """Its configuration, which it keeps up to date itself."""
        settings = {"port": port, "bind": "127.0.0.1", "dir": self.folder, **self.security.settings(self.tls_port)}
        lines = [f"{name} {value}" for name, value in settings.items()]
        if primary.security.pair:
            ours = primary.security.settings(0)
            lines += [f"{name} {ours[name]}" for name in ours if name.endswith("-file") and name not in settings]
            lines.append("tls-replication yes")
        lines.append(f"sentinel monitor {NAME} 127.0.0.1 {primary.port} {quorum}")
        if primary.security.password:
            lines.append(f"sentinel auth-pass {NAME} {primary.security.password}")
        if self.security.password:
            lines.append(f"sentinel sentinel-pass {self.security.password}")
        lines += [f"sentinel down-after-milliseconds {NAME} {PATIENT_MS}",
                  f"sentinel failover-timeout {NAME} 5000"]
        with open(os.path.join(self.folder, "sentinel.conf"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")

    def start(self, primary, quorum):
        for _ in range(10):     # the port may be taken between the look and the start
            self.port = free_port()
            self.write(self.port, primary, quorum)
            if self.run():
                return self
        raise AssertionError(f"the sentinel does not start:\n{self.log()}")

    def run(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen([self.program, os.path.join(self.folder, "sentinel.conf"), "--sentinel"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        wait_until(lambda: self.answers() or self.process.poll() is not None, "a sentinel")
        if self.process.poll() is None:
            self.call("SENTINEL", "DEBUG", *PERIODS)
        return self.process.poll() is None

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def answers(self):
        try:
            return f"process_id:{self.process.pid}\r\n".encode() in self.call("INFO", "server")
        except (OSError, Error):
            return False

    @property
    def url(self):
        return f"127.0.0.1:{self.tls_port or self.port}"

    def call(self, *words):
        return call(self.port, self.security.password, *words)

    def knows(self, n_sentinels):
        """That there is a replica it can use, and who the other sentinels are."""
        flat = self.call("SENTINEL", "MASTER", NAME)
        fields = dict(zip(flat[::2], flat[1::2]))
        replicas = [dict(zip(r[::2], r[1::2])) for r in self.call("SENTINEL", "REPLICAS", NAME)]
        return (fields[b"flags"] == b"master" and fields[b"num-other-sentinels"] == b"%d" % (n_sentinels - 1) and
                len(replicas) == 1 and replicas[0][b"flags"] == b"slave" and
                replicas[0][b"master-link-status"] == b"ok")

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Watched:
    """One primary, one replica, and sentinels; comes up whole."""

    def __init__(self, program, folder, n_sentinels=3, data=Security(), sentinel=Security(), second=None):
        """second: the program of the replica, if it is another."""
        self.folder = str(folder)
        self.first = Node(program, self.make("n0"), data)
        self.second = Node(second or program, self.make("n1"), data)
        self.sentinels = [Sentinel(program, self.make(f"s{i}"), sentinel) for i in range(n_sentinels)]

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        return path

    def start(self):
        self.first.start()
        self.second.start(of=self.first)
        wait_until(self.second.is_in_step, "a replica in step")
        n = len(self.sentinels)
        for sentinel in self.sentinels:
            sentinel.start(self.first, n // 2 + 1)
        wait_until(lambda: all(s.knows(n) for s in self.sentinels), "sentinels that know each other")
        return self

    @property
    def url(self):
        return ",".join([NAME, *(s.url for s in self.sentinels)])

    def fail_over(self):
        """Has a sentinel promote the replica: comes back when that has happened."""
        wait_until(self.is_promoted, "a promoted replica")

    def is_promoted(self):
        """Begins a fail-over where none is under way: on a busy machine a sentinel may give one up."""
        if self.second.is_primary():
            return True
        try:
            self.sentinels[0].call("SENTINEL", "FAILOVER", NAME)
        except Error as e:
            assert "NOGOODSLAVE" in str(e) or "INPROG" in str(e), e
        return False

    def servers(self):
        return [self.first.server, self.second.server, *self.sentinels]

    def hold_dead_after(self, ms):
        for sentinel in self.sentinels:
            sentinel.call("SENTINEL", "SET", NAME, "down-after-milliseconds", ms)

    def stop(self):
        for one in reversed(self.servers()):
            one.stop()
