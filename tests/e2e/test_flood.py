# SPDX-License-Identifier: Apache-2.0
"""Clients that send without a pause, so that the server never finds their socket empty."""
import contextlib
import os
import socket
import struct
import threading
import time

import pytest
import weirserver
from rawh2 import DATA, END_HEADERS, HEADERS, PREFACE, SETTINGS, frame, headers
from weirserver import METHOD, same, wait_until

# A sanitizer reads too slowly for a flood.
RELEASE = os.environ.get("WEIR_RELEASE_BIN_DIR", os.path.join(weirserver.BUILD, "bin"))
RULES = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 1000000}}]\n"
CONTINUATION, WINDOW_UPDATE, UNKNOWN = 9, 8, 0x77
OPEN_CALL = frame(HEADERS, END_HEADERS, 1, headers(METHOD))
# What comes first, and what then comes again and again.
FLOODS = {
    "window_update": (b"", frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
    "empty_data": (OPEN_CALL, frame(DATA, 0, 1)),
    "unknown_frames": (b"", frame(UNKNOWN, 0, 0, bytes(16384))),
}
# C core closes the connection after so much of it.
ENDLESS_HEADERS = (frame(HEADERS, 0, 1, headers(METHOD)), frame(CONTINUATION, 0, 1))
SERVED_ON = 3
TOO_MUCH = 2 << 30      # for C core
# The server's own second, and what a busy machine adds. A flood that keeps the drain keeps it for ever.
LATE_SECONDS = 40


@pytest.fixture
def serve(launch, monkeypatch):
    monkeypatch.setattr(weirserver, "BIN", RELEASE)
    return lambda *flags, **more: launch(RULES, "--workers", "2", *flags, **more)


class Flood(threading.Thread):
    """Sends until the server ends the connection; speaks first, so that the server takes it for a caller."""

    def __init__(self, sock, kind, polite=False):
        super().__init__(daemon=True)
        first, again = kind
        self.socket, self.sent, self.error = sock, 0, None
        self.first, self.again = first, again * (1 + (1 << 20) // len(again))
        self.greets, self.greeted = polite, threading.Event()

    def run(self):
        threading.Thread(target=self.read, daemon=True).start()
        try:
            self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0) + self.first)
            if self.greets:
                self.greeted.wait(weirserver.PATIENCE_SECONDS)
            while True:
                self.socket.sendall(self.again)
                self.sent += len(self.again)
        except OSError as e:
            self.error = e

    def read(self):
        with contextlib.suppress(OSError):
            while self.socket.recv(65536):
                self.greeted.set()


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


@pytest.mark.parametrize("polite", [True, False], ids=["greeted", "at_once"])
@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_is_cut_off_and_others_are_served(kind, polite, serve):
    """2 GiB without a pause end C core. One that begins at once keeps the thread that accepts, and no more."""
    server = serve()
    caller = server.caller()
    same("OK: OK 999999 of 1000000/HOUR", caller.call("d", [["k", "v"]]))
    flood = Flood(connect(server), FLOODS[kind], polite)
    flood.start()
    calls = 0
    while flood.is_alive():
        assert "statuses" in caller.call("d", [["k", "v"]])
        calls += 1
    assert flood.error and flood.sent < TOO_MUCH
    assert server.process.poll() is None
    wait_until(lambda: "sends without a pause" in server.log(), "the line about the flood")
    assert "127.0.0.1:" in server.log()
    same(f"OK: OK {999998 - calls} of 1000000/HOUR", server.caller().call("d", [["k", "v"]]))


@pytest.mark.parametrize("path", [None, "unix"], ids=["tcp", "unix"])
@pytest.mark.parametrize("polite", [True, False], ids=["greeted", "at_once"])
@pytest.mark.parametrize("kind", [*FLOODS, "endless_headers"])
def test_a_flood_does_not_keep_the_drain(kind, polite, path, serve, tmp_path):
    server = serve("--drain-timeout", f"{SERVED_ON}s", "--grpc-listen", f"unix:{tmp_path}/socket")
    if path == "unix":
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(f"{tmp_path}/socket")
    else:
        sock = connect(server)
    flood = Flood(sock, {**FLOODS, "endless_headers": ENDLESS_HEADERS}[kind], polite)
    flood.start()
    wait_until(lambda: flood.sent > 0 or not flood.is_alive(), "a megabyte sent")
    begin = time.monotonic()
    server.signal_stop()
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0
    assert time.monotonic() - begin < SERVED_ON + LATE_SECONDS
    assert "drained; the end" in server.log()
