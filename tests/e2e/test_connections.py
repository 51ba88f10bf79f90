# SPDX-License-Identifier: Apache-2.0
"""Connections that are many, odd, slow, rude or silent, and the callers beside them."""
import contextlib
import itertools
import os
import socket
import struct
import time

import pytest
import rawh2
import weirserver
from weirserver import METHOD, same, wait_until

RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 1000000}}\n"
GOOD = weirserver.oraclelib.build_request({"domain": "d", "desc": [[["k", "a"]]]}).SerializeToString()
PEEK = {"entries": [["k", "a"]], "hits": 0}
HEADERS = rawh2.headers(METHOD)
TLS_HELLO = bytes.fromhex("160301020001000001fc0303") + bytes(64)
MIB = 1 << 20


def request(stream, data=GOOD):
    return (rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, stream, HEADERS)
            + rawh2.frame(rawh2.DATA, rawh2.END_STREAM, stream, rawh2.message(data)))


def reset(stream, code=rawh2.CANCEL):
    return rawh2.frame(rawh2.RST_STREAM, 0, stream, struct.pack(">I", code))


def streams(n):
    return range(1, 2 * n, 2)


def used(caller):
    return 1000000 - caller.call("d", PEEK)["statuses"][0]["remaining"]


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=weirserver.PATIENCE_SECONDS)


def read_to_end(sock):
    """What the server says until it closes."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while more := sock.recv(4096):
            data += more
    return data


# Many

def test_five_hundred_connections(launch):
    server = launch(RULES)
    caller = server.caller()
    assert used(caller) == 0
    before = descriptors(server)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(rawh2.Connection(server.port)) for _ in range(500)]
        for raw in crowd:
            raw.send(request(1))
        assert [raw.wait_end(1) for raw in crowd] == [rawh2.HEADERS] * 500
        assert descriptors(server) >= before + 500
        assert used(caller) == 500
    wait_until(lambda: descriptors(server) <= before, "their descriptors closed")


def test_1100_streams_on_one_connection(launch):
    server = launch(RULES, "--max-concurrent-streams", "1100")
    with rawh2.Connection(server.port) as raw:
        raw.ping()
        raw.send(rawh2.frame(rawh2.SETTINGS, rawh2.ACK, 0),
                 *(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, s, HEADERS) for s in streams(1100)))
        # The body of a call is as short as it can be: all fit into the window that a connection begins with.
        raw.send(*(rawh2.frame(rawh2.DATA, rawh2.END_STREAM, s, rawh2.message(GOOD)) for s in streams(1100)))
        assert ends(raw, 1100) == {s: rawh2.HEADERS for s in streams(1100)}
    assert used(server.caller()) == 1100


def ends(raw, n):
    """{stream: kind of its last frame} of the n streams that are over first."""
    over = {}
    for kind, flags, stream, _ in raw.frames():
        if kind == rawh2.RST_STREAM or (stream and flags & rawh2.END_STREAM):
            over.setdefault(stream, kind)
        if len(over) == n:
            return over
    return over


def test_preface_and_100_requests_in_one_write(launch):
    server = launch(RULES)
    with connect(server) as sock:
        sock.sendall(rawh2.PREFACE + rawh2.frame(rawh2.SETTINGS, 0, 0) + b"".join(map(request, streams(100))))
        raw = rawh2.Connection.of(sock)
        assert ends(raw, 100) == {s: rawh2.HEADERS for s in streams(100)}
    assert used(server.caller()) == 100


# Streams that are reset

STATES = {
    "open": [rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, HEADERS)],
    "in a message": [rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, HEADERS),
                     rawh2.frame(rawh2.DATA, 0, 1, rawh2.message(GOOD)[:7])],
    "half-closed without a message": [rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS | rawh2.END_STREAM, 1, HEADERS)],
    "asked": [request(1)],
    "reset": [request(1), reset(1)],
}


@pytest.mark.parametrize("code", [0, 7, 8])
@pytest.mark.parametrize("state", STATES)
def test_reset_in_state(launch_stores, state, code):
    """More often than there are slots, so that a slot lost each time would show."""
    server = launch_stores(RULES, "--slots", "4", "--workers", "1")
    for _ in range(20):
        with rawh2.Connection(server.port) as raw:
            raw.send(*STATES[state], reset(1, code))
            raw.ping()
    caller = server.caller()
    assert all(f.result() for f in [caller.future("d", [["k", "b"]]) for _ in range(50)])


@pytest.mark.parametrize("stream", [0, 1, 2], ids=["the connection", "idle", "of the server"])
def test_reset_of_what_is_no_stream(launch, stream):
    """An error of the connection (RFC 9113, 6.4); it costs nobody else anything."""
    server = launch(RULES)
    caller = server.caller()
    assert used(caller) == 0
    with rawh2.Connection(server.port) as raw:
        raw.send(reset(stream), request(5))
        ends(raw, 1)
    assert used(caller) <= 1


def test_reset_after_the_answer(launch):
    server = launch(RULES)
    with rawh2.Connection(server.port) as raw:
        for stream in streams(50):
            raw.send(request(stream))
            assert raw.wait_end(stream) == rawh2.HEADERS
            raw.send(reset(stream, 0))
        raw.ping()
    assert used(server.caller()) == 50


# Those who do not read

def test_windows_that_stay_shut(launch):
    """Answers that may not be sent take no slot from other callers, and bounded memory."""
    server = launch(RULES, "--slots", "4", "--workers", "1")
    caller = server.caller()
    assert used(caller) == 0
    before = resident_bytes(server)
    with contextlib.ExitStack() as stack:
        for _ in range(9):
            raw = stack.enter_context(rawh2.Connection(server.port, settings={4: 0}))
            raw.send(rawh2.frame(rawh2.SETTINGS, rawh2.ACK, 0), *map(request, streams(1000)))
        wait_until(lambda: used(caller) == 9 * 1000, "all asked")
        assert resident_bytes(server) - before < 400 * MIB
    assert used(caller) == 9 * 1000


def test_a_client_that_never_reads(launch):
    """From the settings on: it may open streams up to the cap on them, and nobody waits for it."""
    server = launch(RULES)
    caller = server.caller()
    assert used(caller) == 0
    before = resident_bytes(server)
    with rawh2.Connection(server.port) as raw:
        raw.ping()
        raw.socket.settimeout(2)
        with contextlib.suppress(OSError):
            raw.send(rawh2.frame(rawh2.SETTINGS, rawh2.ACK, 0))
            for stream in streams(100000):
                raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, stream, HEADERS))
        same("OK: OK 999999 of 1000000/HOUR", caller.call("d", [["k", "a"]]))
        assert resident_bytes(server) - before < 400 * MIB
    assert used(caller) == 1


def test_a_flood_of_pings(launch):
    """It may be told to calm down; nobody else notices."""
    server = launch(RULES)
    caller = server.caller()
    assert used(caller) == 0
    before = resident_bytes(server)
    with rawh2.Connection(server.port) as raw, contextlib.suppress(OSError):
        for _ in range(10000):
            raw.send(rawh2.frame(rawh2.PING, 0, 0, b"12345678"))
    same("OK: OK 999999 of 1000000/HOUR", caller.call("d", [["k", "a"]]))
    assert resident_bytes(server) - before < 400 * MIB


# Those who speak something else

WRONG = {
    "http1": (b"POST /json HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}", "http2_protocol_options"),
    "tls": (TLS_HELLO, "TLS"),
    "bytes": (b"\xde\xad\xbe\xef", "neither HTTP nor TLS"),
    "silence": (b"", "too little"),
    "half a preface": (rawh2.PREFACE[:10], "too little"),
    "a preface alone": (rawh2.PREFACE, "too little"),
    "half of the settings": (rawh2.PREFACE + rawh2.frame(rawh2.SETTINGS, 0, 0, bytes(6))[:-1], "too little"),
    "no settings": (rawh2.PREFACE + rawh2.frame(rawh2.PING, 0, 0, bytes(8)), "SETTINGS"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_protocol(launch, kind):
    said, hint = WRONG[kind]
    server = launch(RULES, "--handshake-timeout", "2s")
    caller, begun = server.caller(), time.monotonic()
    assert used(caller) == 0
    before = descriptors(server)
    crowd = [connect(server) for _ in range(20)]
    for sock in crowd:
        sock.sendall(said)
    same("OK: OK 999999 of 1000000/HOUR", caller.call("d", [["k", "a"]]))
    answers = {read_to_end(sock)[:12] for sock in crowd}
    assert answers == ({b"HTTP/1.1 505"} if kind == "http1" else {b""})
    for sock in crowd:
        sock.close()
    wait_until(lambda: descriptors(server) <= before, "their descriptors closed")
    lines = [line for line in server.log().splitlines() if "closed a connection" in line]
    assert 1 <= len(lines) <= 2 + time.monotonic() - begun, lines       # of twenty
    assert all(hint in line and "127.0.0.1:" in line for line in lines)


def test_a_slow_speaker_in_time(launch):
    server = launch(RULES, "--handshake-timeout", "20s")
    with connect(server) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in rawh2.PREFACE + rawh2.frame(rawh2.SETTINGS, 0, 0) + request(1):
            sock.sendall(bytes([byte]))
        assert rawh2.Connection.of(sock).wait_end(1) == rawh2.HEADERS


GARBAGE = {
    "random": os.urandom(200),
    "oversized frame": b"\xff\xff\xff" + bytes([0, 0, 0, 0, 0, 1]) + bytes(100),
    "broken headers": rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, b"\xff" * 40),
    "odd header": rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, HEADERS + rawh2.literal("Private-Name", "private-value")),
    "data without headers": rawh2.frame(rawh2.DATA, 0, 1, b"private-data"),
    "even stream": rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 2, HEADERS),
    "bad settings": rawh2.frame(rawh2.SETTINGS, 0, 0, b"12345"),
    "other path": rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS | rawh2.END_STREAM, 1, rawh2.headers("/private/path")),
    "bad timeout": rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, rawh2.headers(METHOD, grpc_timeout="private")),
}


def test_garbage_after_the_preface(launch):
    """What C core notes about it goes into our log, seldom, and without the clients' bytes."""
    print("random is", GARBAGE["random"].hex())     # shown when the test fails
    server = launch(RULES, "--log-level", "debug")
    caller, begun = server.caller(), time.monotonic()
    assert used(caller) == 0
    for data in itertools.chain.from_iterable(itertools.repeat(GARBAGE.values(), 20)):
        with rawh2.Connection(server.port) as raw, contextlib.suppress(OSError):
            raw.send(data, rawh2.frame(rawh2.PING, 0, 0, b"12345678"))
            raw.socket.shutdown(socket.SHUT_WR)
            read_to_end(raw.socket)
    assert used(caller) == 0
    server.stop()
    assert "rivate" not in server.log()
    assert server.log().count("C core noted") < 60 + 2 * (time.monotonic() - begun)


# Descriptors

def test_descriptors_run_out_and_return(launch):
    server = launch(RULES, descriptors=64)
    caller = server.caller()
    assert used(caller) == 0
    crowd = [connect(server) for _ in range(100)]
    wait_until(lambda: "connections wait" in server.log(), "a line that says so")
    assert "at most 32 connections" in server.log() and "ulimit -n" in server.log()
    assert used(caller) == 0
    loads = server.loads()
    weirserver.write_rules(server.rules, RULES.replace("hour", "minute"))
    wait_until(lambda: server.loads() > loads, "descriptors are left to read rules with")
    for sock in crowd:
        sock.close()
    with rawh2.Connection(server.port) as raw:
        raw.send(request(1))
        assert raw.wait_end(1) == rawh2.HEADERS
    assert "Too many open files" not in server.log()


def test_more_connections_than_descriptors(launch):
    server = launch(RULES, "--max-connections", "1000", descriptors=100)
    assert "at most 50 connections, not 1000" in server.log()


def test_too_few_descriptors_to_serve(tmp_path):
    result = weirserver.run("prlimit", "--nofile=40", weirserver.binary("weir"), "--rules", str(tmp_path), "--grpc-listen", "127.0.0.1:0")
    assert result.returncode == 71
    assert "limit on open files is 40" in result.stderr and "48" in result.stderr
