# SPDX-License-Identifier: Apache-2.0
"""Clients that open calls without end and never confirm the settings that would bound them."""
import contextlib
import os
import threading

import pytest
import rawh2
import weirserver
from rawh2 import END_HEADERS, HEADERS, Connection, frame, headers
from weirserver import METHOD, same, wait_until

# A sanitizer keeps what was freed, and takes twice the room.
RELEASE = os.environ.get("WEIR_RELEASE_BIN_DIR", os.path.join(weirserver.BUILD, "bin"))
RULES = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 1000000}}]\n"
MIB = 1 << 20
BOUND = 300 * MIB
# What comes between two looks, which a busy machine delays, and what C core needs to clean up behind those cut off.
# Without the guard there is no bound at all.
MARGIN = 900 * MIB
# The table of header fields that the first call leaves (RFC 7541, 2.3.3), by their indices.
FIRST = headers(METHOD, rawh2.remembered)
LATER = bytes(0x80 | 62 + i for i in reversed(range(6)))
BATCH = 1000


@pytest.fixture
def guarded(launch, monkeypatch):
    monkeypatch.setattr(weirserver, "BIN", RELEASE)
    return lambda *flags: launch(RULES, "--max-memory-bytes", str(BOUND), "--workers", "2", *flags)


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Peak(threading.Thread):
    """The most that a server has resident while the block runs."""

    def __init__(self, server):
        super().__init__()
        self.server, self.bytes, self.over = server, 0, threading.Event()

    def run(self):
        while not self.over.wait(0.005):
            self.bytes = max(self.bytes, resident_bytes(self.server))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def open_calls(port):
    """Opens calls and finishes none, until the server closes."""
    sent = 0
    with Connection(port) as connection, contextlib.suppress(OSError):
        connection.send(frame(HEADERS, END_HEADERS, 1, FIRST))
        while True:
            first = 3 + 2 * sent
            connection.send(*(frame(HEADERS, END_HEADERS, first + 2 * i, LATER) for i in range(BATCH)))
            sent += BATCH


def cut_off(server):
    return server.log().count("closed a connection")


@pytest.mark.parametrize("clients", [1, 20])
def test_calls_without_end(guarded, clients):
    server = guarded()
    caller = server.caller()
    same("OK: OK 999999 of 1000000/HOUR", caller.call("d", [["k", "v"]]))
    crowd = [threading.Thread(target=open_calls, args=(server.port,), daemon=True) for _ in range(clients)]
    with Peak(server) as peak:
        for one in crowd:
            one.start()
        n = 0
        while any(one.is_alive() for one in crowd):
            assert "statuses" in caller.call("d", [["k", "v"]])
            n += 1
        for one in crowd:
            one.join()
        wait_until(lambda: resident_bytes(server) < BOUND, "memory given back")
    assert peak.bytes < BOUND + MARGIN
    assert cut_off(server) >= 1
    assert "127.0.0.1:" in server.log() and "--max-memory-bytes" in server.log()
    same(f"OK: OK {999998 - n} of 1000000/HOUR", caller.call("d", [["k", "v"]]))
    same(f"OK: OK {999997 - n} of 1000000/HOUR", server.caller().call("d", [["k", "v"]]))
