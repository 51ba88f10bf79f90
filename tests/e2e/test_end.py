# SPDX-License-Identifier: Apache-2.0
"""The end of a connection, by its age, and of a server, step by step."""
import contextlib
import os
import signal
import socket

import pytest
import rawh2
import weirserver
from grpc_health.v1 import health_pb2, health_pb2_grpc
from loads import GrpcLoad
from weirserver import METHOD, same, wait_until

RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 100000}}\n"
GOOD = weirserver.oraclelib.build_request({"domain": "d", "desc": [[["k", "a"]]]}).SerializeToString()
OPEN_STREAM = rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, rawh2.headers(METHOD))
MESSAGE = rawh2.frame(rawh2.DATA, rawh2.END_STREAM, 1, rawh2.message(GOOD))
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
# So long that nobody waits for its end.
LONG = "10m"


def wait_goaway(raw):
    """The last stream and the error code of the first GOAWAY."""
    for kind, _, _, payload in raw.frames():
        if kind == rawh2.GOAWAY:
            return int.from_bytes(payload[:4], "big"), int.from_bytes(payload[4:8], "big")
        if kind == rawh2.PING:
            raw.send(rawh2.frame(rawh2.PING, rawh2.ACK, 0, payload))
    raise AssertionError("closed without a GOAWAY")


def rest(raw):
    """What arrives until the server closes: {stream: kind of its last frame}. Pings are answered."""
    last = {}
    with contextlib.suppress(ConnectionResetError):
        for kind, _, stream, payload in raw.frames():
            if kind == rawh2.PING:
                raw.send(rawh2.frame(rawh2.PING, rawh2.ACK, 0, payload))
            last[stream] = kind
    return last


def is_open(server):
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=weirserver.PATIENCE_SECONDS).close()
        return True
    except ConnectionRefusedError:
        return False


def is_serving(server):
    stub = health_pb2_grpc.HealthStub(server.caller().channel)
    return stub.Check(health_pb2.HealthCheckRequest(), timeout=weirserver.PATIENCE_SECONDS).status != NOT_SERVING


# A connection

def test_age_is_told_before_the_last_stream(launch):
    """First a GOAWAY that refuses nothing, so that no call is lost; calls under way are answered; then the close."""
    server = launch(RULES, "--max-connection-age", "500ms")
    with rawh2.Connection(server.port) as raw:
        raw.send(OPEN_STREAM)
        assert wait_goaway(raw) == (0x7fffffff, 0)
        raw.send(MESSAGE)
        assert rest(raw)[1] == rawh2.HEADERS
    same("OK: OK 99998 of 100000/HOUR", server.caller().call("d", [["k", "a"]]))


def test_grace_ends_what_does_not_end(launch):
    server = launch(RULES, "--max-connection-age", "300ms", "--max-connection-age-grace", "300ms")
    with rawh2.Connection(server.port) as raw:
        raw.send(OPEN_STREAM)
        assert wait_goaway(raw) == (0x7fffffff, 0)
        rest(raw)


def test_a_caller_does_not_notice_age(launch):
    server = launch(RULES, "--max-connection-age", "100ms", "--max-connection-age-grace", "5m")

    def is_unnoticed():
        """A caller that a busy machine keeps from reading may lose the last answers to the end of their connection."""
        with GrpcLoad(500, server.address, {"domain": "d", "desc": [[["k", "a"]]]}, 1) as load:
            wait_until(lambda: load.sent >= 1000, "calls over some twenty connections")
        assert all("Connection reset by peer" in failure for failure in load.failures), str(load)
        return not load.failures

    wait_until(is_unnoticed, "a load that loses nothing")


# A server

def test_delay_serves_everybody_on(launch):
    server = launch(RULES, "--drain-delay", LONG)
    old = server.caller()
    same("OK: OK 99999 of 100000/HOUR", old.call("d", [["k", "a"]]))
    assert is_serving(server)
    server.signal_stop()
    wait_until(lambda: not is_serving(server), "NOT_SERVING")
    same("OK: OK 99998 of 100000/HOUR", old.call("d", [["k", "a"]]))
    same("OK: OK 99997 of 100000/HOUR", server.caller().call("d", [["k", "a"]]))
    end_at_once(server)


def test_after_the_delay_the_connected_are_served_on(launch):
    server = launch(RULES, "--drain-timeout", LONG, "--max-connection-age", "5m")
    old = server.caller()
    same("OK: OK 99999 of 100000/HOUR", old.call("d", [["k", "a"]]))
    server.signal_stop()
    wait_until(lambda: not is_open(server), "closed listening socket")
    same("OK: OK 99998 of 100000/HOUR", old.call("d", [["k", "a"]]))
    assert server.process.poll() is None
    end_at_once(server)


def end_at_once(server):
    """A second signal."""
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 128 + signal.SIGTERM
    server.process = None


def test_a_second_signal_ends_the_first_process_of_a_container_too(launch):
    """The kernel keeps default actions of signals from process 1, which Weir is in its image."""
    server = launch(RULES, "--drain-delay", LONG, under=("unshare", "--pid", "--fork", "--kill-child"))
    outer = server.process.pid
    with open(f"/proc/{outer}/task/{outer}/children", encoding="ascii") as f:
        inner = int(f.read().split()[0])
    os.kill(inner, signal.SIGTERM)
    wait_until(lambda: "draining" in server.log(), "the first signal")
    os.kill(inner, signal.SIGTERM)
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 128 + signal.SIGTERM
    server.process = None


def is_answered(server):
    """False when the connection is refused; it fails when it is taken and then reset or closed."""
    try:
        sock = socket.create_connection(("127.0.0.1", server.port), timeout=weirserver.PATIENCE_SECONDS)
    except ConnectionRefusedError:
        return False
    with rawh2.Connection.of(sock) as raw:
        raw.send(rawh2.PREFACE, rawh2.frame(rawh2.SETTINGS, 0, 0), rawh2.frame(rawh2.PING, 0, 0, b"12345678"))
        assert any(kind == rawh2.PING and flags & rawh2.ACK for kind, flags, _, _ in raw.frames()), "closed unanswered"
    return True


def test_silence_of_one_costs_others_nothing(launch):
    """A connection that says nothing keeps no caller waiting in a socket that is then closed, nor the server from its end."""
    server = launch(RULES, "--drain-timeout", LONG, "--max-connection-age", "5m")
    with socket.create_connection(("127.0.0.1", server.port), timeout=weirserver.PATIENCE_SECONDS):
        assert is_answered(server)
        server.signal_stop()
        wait_until(lambda: not is_answered(server), "refusal")
        assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0


@pytest.mark.parametrize("age", ["0", "24h"])
def test_silence_ends_it(launch, age):
    """Where age is no help, connections without calls are not waited for as long as they may take."""
    server = launch(RULES, "--drain-timeout", LONG, "--max-connection-age", age)
    same("OK: OK 99999 of 100000/HOUR", server.caller().call("d", [["k", "a"]]))
    server.signal_stop()
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0


def test_the_last_connection_ends_it(launch):
    server = launch(RULES, "--drain-timeout", LONG, "--max-connection-age", "5m")
    with rawh2.Connection(server.port) as raw:
        raw.ping()
        server.signal_stop()
        wait_until(lambda: not is_open(server), "closed listening socket")
        raw.ping()
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0


def test_age_ends_it(launch):
    """Callers that know nothing of it lose no call; their connections leave, and it ends before its time is over."""
    server = launch(RULES, "--drain-timeout", LONG, "--max-connection-age", "1s")
    caller = server.caller()
    same("OK: OK 99999 of 100000/HOUR", caller.call("d", [["k", "a"]]))
    server.signal_stop()
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0


def test_watchers_are_told_and_let_go(launch):
    server = launch(RULES, "--drain-delay", "500ms", "--drain-timeout", LONG, "--max-connection-age", "1s")
    stub = health_pb2_grpc.HealthStub(server.caller().channel)
    told = stub.Watch(health_pb2.HealthCheckRequest(), timeout=weirserver.PATIENCE_SECONDS)
    assert next(told).status != NOT_SERVING
    server.signal_stop()
    assert next(told).status == NOT_SERVING
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0
