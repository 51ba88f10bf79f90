# SPDX-License-Identifier: Apache-2.0
"""A private Redis cluster: three primaries with a replica each, put together by hand on 127.0.0.1."""
import os
import re

from ports import free_port
from redisserver import Connection, RedisServer
from weirserver import wait_until

SLOTS = 16384
PRIMARIES = 3
# After so long a silent node is held to be dead. A busy machine lets a node wait, so the first is for as long as none
# dies.
PATIENT_MS, HASTY_MS = 60000, 2000


class Cluster:
    """nodes: all servers that were started; who is a primary may change."""

    def __init__(self, program, folder, tls_settings=()):
        """tls_settings: words of a command line, without ports; with them nodes have a port for TLS as well."""
        self.program, self.folder = program, str(folder)
        self.tls_settings = tls_settings
        self.nodes, self.bus_ports, self.tls_ports = [], [], []

    def start_node(self, *settings):
        folder = os.path.join(self.folder, f"n{len(self.nodes)}")
        os.mkdir(folder)
        self.nodes.append(RedisServer(self.program, folder))
        self.bus_ports.append(free_port())
        self.tls_ports.append(free_port() if self.tls_settings else None)
        self.restart(self.nodes[-1], *settings)

    def restart(self, node, *settings):
        i = self.nodes.index(node)
        bus_port = self.bus_ports[i]
        if self.tls_settings:
            settings = ("--tls-port", str(self.tls_ports[i]), "--tls-cluster", "yes",
                        "--tls-replication", "yes", *self.tls_settings, *settings)
        node.start("--cluster-enabled", "yes", "--cluster-port", str(bus_port),
                   "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", str(PATIENT_MS),
                   "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0", *settings)

    def start(self, *settings):
        """Comes back when every node sees a whole cluster and every replica has its primary's data."""
        for _ in range(2 * PRIMARIES):
            self.start_node(*settings)
        for i, node in enumerate(self.nodes):
            node.call("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for i, node in enumerate(self.nodes[:PRIMARIES]):
            node.call("CLUSTER", "ADDSLOTSRANGE", SLOTS * i // PRIMARIES, SLOTS * (i + 1) // PRIMARIES - 1)
        for node in self.nodes[1:]:
            self.meet(node)
        wait_until(lambda: all(self.knows_all(node) for node in self.nodes), "nodes that know each other")
        for i, node in enumerate(self.nodes[PRIMARIES:]):
            node.call("CLUSTER", "REPLICATE", self.id_of(self.nodes[i]))
        wait_until(self.is_whole, "a whole cluster")
        return self

    def hold_dead_after(self, ms, nodes):
        """In the eyes of these nodes."""
        for node in nodes:
            node.call("CONFIG", "SET", "cluster-node-timeout", ms)

    def add_primary(self):
        """One more, without slots, that all know."""
        self.start_node()
        self.meet(self.nodes[-1])
        wait_until(lambda: all(self.knows_all(node) for node in self.nodes), "a new node")
        return self.nodes[-1]

    def meet(self, node):
        port = self.tls_ports[0] or self.nodes[0].port
        node.call("CLUSTER", "MEET", "127.0.0.1", port, self.bus_ports[0])

    def knows_all(self, node):
        text = node.call("CLUSTER", "NODES").decode()
        return len(text.splitlines()) == len(self.nodes) and "handshake" not in text

    def is_whole(self):
        return all(self.state_of(n) == "ok" and self.is_in_step(n) for n in self.running())

    def running(self):
        return [n for n in self.nodes if n.process.poll() is None]

    @staticmethod
    def id_of(node):
        return node.call("CLUSTER", "MYID").decode()

    @staticmethod
    def state_of(node):
        return dict(line.split(":", 1) for line in node.call("CLUSTER", "INFO").decode().splitlines())["cluster_state"]

    @staticmethod
    def is_in_step(node):
        role = node.call("ROLE")
        return role[0] == b"master" or role[3] == b"connected"

    @staticmethod
    def is_primary(node):
        return node.call("ROLE")[0] == b"master"

    def primaries(self):
        return [n for n in self.running() if self.is_primary(n)]

    def replica_of(self, node):
        return next(n for n in self.running() if n.call("ROLE")[:3] == [b"slave", b"127.0.0.1", node.port])

    @property
    def url(self):
        """Of two nodes, one of them a replica."""
        return f"{self.nodes[0].url},{self.nodes[-1].url}"

    def slot_of(self, key):
        return self.nodes[0].call("CLUSTER", "KEYSLOT", key)

    def owner_of(self, slot):
        """The primary that says of itself that it owns the slot."""
        for node in self.primaries():
            for first, last, owner, *_ in node.call("CLUSTER", "SLOTS"):
                if first <= slot <= last and owner[1] == node.port:
                    return node
        raise AssertionError(f"nobody owns slot {slot}")

    def counters(self):
        """Keys of all, but that by which servers count each other."""
        return {key for node in self.primaries() for key in node.keys() if b"{replicas}" not in key}

    def begin_migration(self, slot, target):
        source = self.owner_of(slot)
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", self.id_of(source))
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", self.id_of(target))
        return source

    def settle(self):
        """Ends migrations that a test left half done; keys may be lost."""
        for node in self.primaries():
            for slot in re.findall(r"\[(\d+)-[<>]-", node.call("CLUSTER", "NODES").decode()):
                node.call("CLUSTER", "SETSLOT", slot, "STABLE")

    @staticmethod
    def move_keys(slot, source, target, at_once=10):
        """Moves up to so many keys; the number of those that were there."""
        with Connection(source.port) as c:
            keys = c.call("CLUSTER", "GETKEYSINSLOT", slot, at_once)
            if keys:
                c.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
        return len(keys)

    def end_migration(self, slot, source, target):
        """The target first, as the specification has it; the others learn it by gossip, or from here."""
        for node in [target, source, *(n for n in self.primaries() if n not in (source, target))]:
            node.call("CLUSTER", "SETSLOT", slot, "NODE", self.id_of(target))

    def migrate_rest(self, slot, source, target):
        while self.move_keys(slot, source, target):
            pass
        self.end_migration(slot, source, target)

    def stop(self):
        for node in self.nodes:
            node.stop()
