# SPDX-License-Identifier: Apache-2.0
"""A store that answers late, in another order, or never: what becomes of the calls meanwhile."""
import functools
import socket

import grpc
import oraclelib
import pytest
import rawh2
import weirserver
from google.rpc import error_details_pb2, status_pb2
from weirserver import METHOD, same, wait_until

RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 1000}}\n"
PEEK = {"entries": [["k", "a"]], "hits": 0}


@pytest.fixture
def serve(launch):
    """serve(*flags, delay_us=…, …): a server over the slow store."""
    def start(*flags, **slow):
        slow = {"timeout_us": 20 * 10**6, **slow}
        env = {f"SLOW_{name.upper()}": value for name, value in slow.items()}
        return launch(RULES, *flags, program="weir_slow_store", env=env)
    return start


def request(value):
    return oraclelib.build_request({"domain": "d", "desc": [[["k", value]]]}).SerializeToString()


def charge_of(caller):
    """How many hits the counter of value a holds; None while there is no answer."""
    reply = caller.call("d", PEEK)
    return 1000 - reply["statuses"][0]["remaining"] if "statuses" in reply else None


def test_no_answer_is_unavailable_with_a_time_to_retry(serve):
    caller = serve(never_every=1, timeout_us=20000).caller()
    with pytest.raises(grpc.RpcError) as e:
        caller.send(request("a"), timeout=weirserver.PATIENCE_SECONDS)
    assert e.value.code() == grpc.StatusCode.UNAVAILABLE
    details = dict(e.value.trailing_metadata())["grpc-status-details-bin"]
    retry = error_details_pb2.RetryInfo()
    assert any(d.Unpack(retry) for d in status_pb2.Status.FromString(details).details)
    assert retry.retry_delay.ToNanoseconds() > 0


@pytest.mark.parametrize("mode, code", [("allow", "OK"), ("deny", "OVER_LIMIT")])
def test_no_answer_by_failure_mode(serve, mode, code):
    caller = serve("--failure-mode", mode, never_every=1, timeout_us=20000).caller()
    assert caller.call("d", [["k", "a"]]) == {"overall": code, "statuses": [{"code": code, "remaining": 0}]}
    same("OK: bare", caller.call("d", [["none", ""]]))


def test_some_without_an_answer(serve):
    caller = serve(never_every=5, timeout_us=20000).caller()
    futures = [caller.future("d", [["k", "a"]]) for _ in range(100)]
    codes = [f.exception().code().name if f.exception() else "OK" for f in futures]
    assert (codes.count("OK"), codes.count("UNAVAILABLE")) == (80, 20)


@pytest.mark.parametrize("order", ["in-order", "reversed", "shuffled"])
def test_each_caller_gets_its_own_answer(serve, order):
    caller = serve(order=order, delay_us=5000).caller()
    futures = [caller.future("d", {"entries": [["k", f"v{i}"]], "limit": [i + 1, "DAY"]}) for i in range(300)]
    limits = [oraclelib.rls_pb2.RateLimitResponse.FromString(f.result()).statuses[0].current_limit for f in futures]
    assert [limit.requests_per_unit for limit in limits] == list(range(1, 301))


def test_cancelled_while_the_store_works(serve):
    """The charge stands, and nothing is left behind: the sanitizer looks at the end."""
    server = serve(delay_us=100000)
    with rawh2.Connection(server.port) as raw:
        for stream in range(1, 101, 2):
            raw.send(*call_frames(stream, "a"))
        raw.ping()
        for stream in range(1, 101, 2):
            raw.send(rawh2.frame(rawh2.RST_STREAM, 0, stream, rawh2.CANCEL.to_bytes(4, "big")))
        raw.ping()
    wait_until(functools.partial(lambda caller: charge_of(caller) == 50, server.caller()), "50 charges")


def test_connection_lost_while_the_store_works(serve):
    server = serve(delay_us=100000)
    with rawh2.Connection(server.port) as raw:
        for stream in range(1, 101, 2):
            raw.send(*call_frames(stream, "a"))
        raw.ping()
    wait_until(functools.partial(lambda caller: charge_of(caller) == 50, server.caller()), "50 charges")


def test_deadline_while_the_store_works(serve):
    caller = serve(delay_us=3000000).caller()
    same("OK: bare", caller.call("d", [["none", ""]]))
    assert caller.call("d", [["k", "a"]], timeout=2) == {"error": "DEADLINE_EXCEEDED"}
    assert charge_of(caller) == 1


def call_frames(stream, value):
    return (rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, stream, rawh2.headers(METHOD)),
            rawh2.frame(rawh2.DATA, rawh2.END_STREAM, stream, rawh2.message(request(value))))


def test_stop_waits_for_the_answers(serve):
    server = serve(delay_us=300000)
    streams = set(range(1, 101, 2))
    with rawh2.Connection(server.port) as raw:
        for stream in sorted(streams):
            raw.send(*call_frames(stream, "a"))
        raw.ping()
        server.signal_stop()
        answered = {stream for kind, _, stream, payload in raw.frames() if kind == rawh2.DATA and payload}
    assert answered == streams
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0


def is_refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=weirserver.PATIENCE_SECONDS).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass    # it stood in the queue of the socket that was just closed
    return False


def test_stop_closes_the_listening_socket_first(serve):
    server = serve(delay_us=8 * 10**6, timeout_us=60 * 10**6)
    with rawh2.Connection(server.port) as raw:
        raw.send(*call_frames(1, "a"))
        raw.ping()
        server.signal_stop()
        wait_until(lambda: is_refused(server.port), "a closed socket", 7.5)
        assert server.process.poll() is None
        assert raw.wait_end(1) == rawh2.HEADERS


def test_stop_ends_calls_that_get_no_answer(serve):
    server = serve("--drain-timeout", "100ms", never_every=1, timeout_us=10**6)
    with rawh2.Connection(server.port) as raw:
        raw.send(*call_frames(1, "a"))
        raw.ping()
        server.signal_stop()
        assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0
