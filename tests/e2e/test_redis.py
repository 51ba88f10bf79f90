# SPDX-License-Identifier: Apache-2.0
"""Counters in Redis, from the caller to the key and back, and what happens while Redis is away."""
import contextlib
import socket
import socketserver
import threading
import time

import grpc
import oraclelib
import pytest
import weirserver
from delays import Delays
from grpc_health.v1 import health_pb2
from ports import free_port
from redisproxy import Proxy
from redisserver import Connection, Error
from weirserver import same, wait_until

RULES = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: big
    rate_limit: {unit: hour, requests_per_unit: 1000}
  - key: paid
    rate_limit: {unit: hour, requests_per_unit: 10, count: all}
"""
# A sanitized server on a busy machine needs longer than a tuned one; what is looked at here is not time.
PATIENT = ("--redis-timeout", "10s")


@pytest.fixture
def serve(launch):
    def start(url, *flags, **more):
        return launch(RULES, "--store", "redis", "--redis-url", url, *flags, **more)
    return start


def ready(server):
    """Waits until the server has reached its Redis."""
    wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
    return server.caller()


@pytest.mark.valkey
@pytest.mark.parametrize("url", ["{url}", "redis://{url}", "redis://{url}/3", "localhost:{port}", "unix:{path}",
                                 "{path}"])
def test_counts(redis, serve, url):
    caller = ready(serve(url.format(url=redis.url, port=redis.port, path=redis.path), *PATIENT))
    for left in range(4, -1, -1):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OK: OK 4 of 5/HOUR, bare", caller.call("d", [["k", "b"]], [["none", ""]]))


@pytest.mark.valkey
@pytest.mark.parametrize("n_threads", [1, 3])
def test_two_servers_count_together(redis, serve, n_threads):
    one, other = (ready(serve(redis.url, *PATIENT, "--redis-io-threads", str(n_threads))) for _ in range(2))
    for _ in range(2):
        one.call("d", [["k", "a"]])
        other.call("d", [["k", "a"]])
    same("OK: OK 0 of 5/HOUR", one.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", other.call("d", [["k", "a"]]))


def health(server):
    check = server.caller().channel.unary_unary("/grpc.health.v1.Health/Check")
    return health_pb2.HealthCheckResponse.ServingStatus.Name(
        health_pb2.HealthCheckResponse.FromString(check(b"", timeout=weirserver.PATIENCE_SECONDS)).status)


def code_of(reply):
    return reply.get("error") or reply["overall"]


def answers_again(caller):
    wait_until(lambda: "error" not in caller.call("d", [["k", "probe"]]), "answers after Redis came back")


def used(caller, value):
    """Hits on the counter of `big` with that value."""
    reply = caller.peek("d", ["big", value])
    return 1000 - reply["statuses"][0]["remaining"] if "statuses" in reply else None


@pytest.mark.valkey
def test_starts_before_redis(start_redis, serve):
    port = free_port()
    server = serve(f"127.0.0.1:{port}")
    caller = server.caller()
    assert caller.call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    assert health(server) == "NOT_SERVING"
    wait_until(lambda: "health: NOT_SERVING, reason: store" in server.log(), "a reason")
    start_redis(port=port)
    wait_until(lambda: health(server) == "SERVING", "SERVING after Redis came")
    answers_again(caller)


def test_health_while_redis_is_away(redis, serve):
    server = serve(redis.url, *PATIENT)
    ready(server)
    redis.kill()
    wait_until(lambda: health(server) == "NOT_SERVING", "NOT_SERVING without Redis")
    wait_until(lambda: "health: NOT_SERVING, reason: store" in server.log(), "a reason")
    redis.start()
    wait_until(lambda: health(server) == "SERVING", "SERVING with Redis")


def test_health_may_leave_redis_out(serve):
    server = serve(f"127.0.0.1:{free_port()}", "--store-health=false")
    assert health(server) == "SERVING"
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}


@pytest.mark.parametrize("mode, code", [("allow", "OK"), ("deny", "OVER_LIMIT")])
def test_failure_mode_decides_without_redis(serve, mode, code):
    caller = serve(f"127.0.0.1:{free_port()}", "--failure-mode", mode).caller()
    assert code_of(caller.call("d", [["k", "a"]])) == code
    same("OK: bare", caller.call("d", [["none", ""]]))


@pytest.mark.valkey
def test_restarted_redis(redis, serve):
    caller = ready(serve(redis.url, *PATIENT))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    redis.kill()
    assert code_of(caller.call("d", [["k", "a"]])) == "UNAVAILABLE"
    redis.start()
    answers_again(caller)
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


@pytest.mark.valkey
def test_connection_killed_between_calls(redis, serve):
    caller = ready(serve(redis.url, *PATIENT))
    for left in range(4, -1, -1):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
        redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


@pytest.mark.valkey
def test_frozen_redis(redis, serve):
    """Every call is answered in time, what woke too late counts nothing, and it works again at once."""
    server = serve(redis.url, "--redis-timeout", "1s")
    caller = ready(server)
    same("OK: OK 999 of 1000/HOUR", caller.call("d", [["big", "a"]]))
    for _ in range(20):     # what is known of the clock of Redis is as good as the quickest exchange so far
        caller.call("d", [["k", "a"]])
    redis.freeze()
    with Delays(server) as delays:
        begun = time.monotonic()
        futures = [caller.future("d", [["big", "a"]]) for _ in range(30)]
        assert {f.exception().code() for f in futures} == {grpc.StatusCode.UNAVAILABLE}
        ended = time.monotonic()
    assert delays.is_prompt(begun, ended, 2.5), ended - begun
    wait_until(lambda: timed(lambda: caller.call("d", [["big", "a"]])) < 0.1, "calls held off a frozen Redis")
    # On a busy machine the quickest exchange is slow, and what wakes so little after its time may count.
    held_off = time.monotonic()
    wait_until(lambda: time.monotonic() - held_off > 0.7, "Redis frozen for longer than that")
    redis.thaw()
    answers_again(caller)
    assert used(caller, "a") == 1


def timed(what):
    begun = time.monotonic()
    what()
    return time.monotonic() - begun


def test_ends_while_redis_is_frozen(redis, serve):
    server = serve(redis.url, "--redis-timeout", "2s")
    ready(server)
    redis.freeze()
    assert timed(server.stop) < 30


@pytest.mark.valkey
def test_forgotten_script(redis, serve):
    caller = ready(serve(redis.url, *PATIENT))
    for left in range(4, -1, -1):
        redis.call("SCRIPT", "FLUSH")
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))


@pytest.mark.valkey
def test_forgotten_script_under_load(redis, serve):
    caller = ready(serve(redis.url, *PATIENT))
    futures = []
    for _ in range(10):
        futures += [caller.future("d", [["big", "a"]]) for _ in range(50)]
        redis.call("SCRIPT", "FLUSH")
    assert not [f.exception() for f in futures if f.exception()]
    assert used(caller, "a") == 500


@pytest.mark.valkey
def test_flushed_counters_begin_anew(redis, serve):
    caller = ready(serve(redis.url, *PATIENT))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    redis.call("FLUSHALL")
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


@pytest.mark.valkey
def test_full_redis(redis, serve):
    server = serve(redis.url, *PATIENT)
    caller = ready(server)
    redis.call("CONFIG", "SET", "maxmemory-policy", "noeviction")
    redis.call("CONFIG", "SET", "maxmemory", "1")
    assert code_of(caller.call("d", [["k", "a"]])) == "UNAVAILABLE"
    wait_until(lambda: "maxmemory is reached" in server.log(), "advice in the log")
    wait_until(lambda: health(server) == "NOT_SERVING", "NOT_SERVING with a Redis that takes nothing")
    redis.call("CONFIG", "SET", "maxmemory", "0")
    wait_until(lambda: health(server) == "SERVING", "SERVING with room again")
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


@pytest.mark.valkey
def test_password(start_redis, serve):
    redis = start_redis("--requirepass", "swordfish")
    server = serve(f"redis://:swordfish@{redis.url}", *PATIENT)
    same("OK: OK 4 of 5/HOUR", ready(server).call("d", [["k", "a"]]))
    other = serve(redis.url, *PATIENT, env={"REDIS_AUTH": "swordfish"})
    same("OK: OK 3 of 5/HOUR", ready(other).call("d", [["k", "a"]]))
    assert "swordfish" not in server.log() + other.log()


@pytest.mark.valkey
@pytest.mark.parametrize("auth, advice", [("", "a password is needed"), ("open-sesame", "user or password is wrong")])
def test_wrong_password(start_redis, serve, auth, advice):
    redis = start_redis("--requirepass", "swordfish")
    server = serve(redis.url, *PATIENT, env={"REDIS_AUTH": auth})
    wait_until(lambda: advice in server.log(), "advice in the log")
    assert code_of(server.caller().call("d", [["k", "a"]])) == "UNAVAILABLE"
    assert "sesame" not in server.log()


@pytest.mark.valkey
def test_user_with_few_rights(redis, serve):
    redis.call("ACL", "SETUSER", "weir", "on", ">pw", "~weir:*", "+@connection", "+@scripting", "+@read", "+@write",
               "+time")
    caller = ready(serve(f"redis://weir:pw@{redis.url}", *PATIENT))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


@pytest.mark.valkey
def test_user_without_rights(redis, serve):
    redis.call("ACL", "SETUSER", "weir", "on", ">pw", "~*", "+@connection")
    server = serve(f"redis://weir:pw@{redis.url}", *PATIENT)
    wait_until(lambda: code_of(server.caller().call("d", [["k", "a"]])) == "UNAVAILABLE", "UNAVAILABLE")
    wait_until(lambda: "the user may not do this" in server.log(), "advice in the log")
    wait_until(lambda: health(server) == "NOT_SERVING", "NOT_SERVING without rights")


@pytest.mark.valkey
def test_primary_that_becomes_a_replica(redis, start_redis, serve):
    server = serve(redis.url, *PATIENT)
    caller = ready(server)
    other = start_redis()
    redis.call("REPLICAOF", "127.0.0.1", other.port)
    wait_until(lambda: "error" in caller.call("d", [["k", "a"]]), "an error of a replica")
    wait_until(lambda: health(server) == "NOT_SERVING", "NOT_SERVING with a replica alone")
    redis.call("REPLICAOF", "NO", "ONE")
    answers_again(caller)


@pytest.mark.valkey
def test_busy_redis(redis, serve):
    server = serve(redis.url, *PATIENT)
    caller = ready(server)
    redis.call("CONFIG", "SET", "busy-reply-threshold", "50")
    blocker = threading.Thread(target=block, args=(redis,))
    blocker.start()
    wait_until(lambda: "a script of somebody else blocks" in calls_and_log(server, caller), "advice in the log")
    redis.call("SCRIPT", "KILL")
    blocker.join()
    answers_again(caller)


def block(redis):
    with Connection(redis.port, timeout=60) as c, contextlib.suppress(Error):
        c.call("EVAL", "while true do end", 0)


def calls_and_log(server, caller):
    caller.call("d", [["k", "a"]])
    return server.log()


@pytest.mark.parametrize("what", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"+OK\r\n" * 100, b"*2000000000\r\n", b"$-5\r\n",
                                  b"*-7\r\n:1\r\n", b"\x16\x03\x01\x00\x00", b""])
def test_what_is_no_redis(serve, what):
    """Another server at that place: it is told, and harms nobody."""
    with Stub(what) as stub:
        server = serve(f"127.0.0.1:{stub.port}", "--redis-connect-timeout", "200ms")
        wait_until(lambda: stub.n_connections >= 3, "several attempts")
        assert code_of(server.caller().call("d", [["k", "a"]])) == "UNAVAILABLE"
        assert f"Redis at 127.0.0.1:{stub.port}" in server.log()


class Stub:
    """Says the same bytes to everybody, after the first that it hears, and then closes when they are none."""

    def __init__(self, what):
        self.what, self.n_connections = what, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections = []
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for c in self.connections:
            c.close()

    def run(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            self.n_connections += 1
            self.connections.append(c)
            with contextlib.suppress(OSError):
                c.recv(65536)
                c.sendall(self.what)
                if not self.what:
                    c.close()


SENSIBLE = {"nothing": {}, "PING": {b"PING": b"+PONG\r\n"}}


@pytest.mark.parametrize("sensible", SENSIBLE)
def test_answers_that_are_none(serve, sensible):
    """A server that says OK to everything, perhaps but PING: it is tried now and then, and told in few lines."""
    with Agreeable(SENSIBLE[sensible]) as stub:
        server = serve(f"127.0.0.1:{stub.port}", *PATIENT)
        caller = server.caller()
        begun = time.monotonic()
        wait_until(lambda: code_of(caller.call("d", [["k", "a"]])) and time.monotonic() - begun > 4, "4 s of calls")
        n_connections, took = stub.n_connections, time.monotonic() - begun
        lines = [line for line in server.log().splitlines() if f"at 127.0.0.1:{stub.port}" in line]
        assert 2 <= n_connections <= 30 * took / 4
        assert 1 <= len(lines) <= 8 * took / 4, lines
        assert any("is it Redis" in line for line in lines), lines


class Agreeable(socketserver.ThreadingTCPServer):
    """Says OK to each command, but to those of `words` what they say."""
    daemon_threads = True

    def __init__(self, words):
        self.words, self.n_connections = words, 0
        super().__init__(("127.0.0.1", 0), Agreement)
        self.port = self.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,)).start()
        return self

    def __exit__(self, *what):
        self.shutdown()
        super().__exit__(*what)


class Agreement(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.n_connections += 1
        with contextlib.suppress(OSError):
            while (head := self.rfile.readline()):
                words = [self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
                self.wfile.write(self.server.words.get(words[0], b"+OK\r\n"))


@pytest.mark.parametrize("n_bytes", [0, 1, 5, 20])
def test_cut_in_the_middle_of_a_reply(redis, serve, n_bytes):
    """The call whose answer was lost is not repeated: it was counted, and once."""
    with Proxy(redis.port) as proxy:
        caller = ready(serve(proxy.url, *PATIENT))
        same("OK: OK 999 of 1000/HOUR", caller.call("d", [["big", "a"]]))
        proxy.cut_after = n_bytes
        # A heartbeat's reply may be what is cut; then no call of ours is lost.
        codes = []
        while proxy.n_cuts == 0:
            codes.append(code_of(caller.call("d", [["big", "b"]])))
        answers_again(caller)
        assert codes.count("UNAVAILABLE") <= 1
        assert used(caller, "a") == 1
        assert codes.count("OK") <= used(caller, "b") <= len(codes)


def test_commands_that_come_late_count_nothing(redis, serve):
    with Proxy(redis.port) as proxy:
        server = serve(proxy.url, "--redis-timeout", "600ms", "--redis-breaker", "1000")
        caller = ready(server)
        same("OK: OK 999 of 1000/HOUR", caller.call("d", [["big", "a"]]))
        proxy.delay = 2.4
        with Delays(server) as delays:
            for _ in range(3):
                begun = time.monotonic()
                assert code_of(caller.call("d", [["big", "a"]])) == "UNAVAILABLE"
                assert delays.is_prompt(begun, time.monotonic(), 2.2)
        proxy.delay = 0
        wait_until(lambda: used(caller, "a") is not None, "an answer")
        assert used(caller, "a") == 1


def test_rubbish_on_the_wire(redis, serve):
    with Proxy(redis.port) as proxy:
        server = serve(proxy.url, *PATIENT)
        caller = ready(server)
        proxy.rubbish = True
        assert code_of(caller.call("d", [["k", "a"]])) == "UNAVAILABLE"
        wait_until(lambda: "no reply of Redis" in server.log(), "a complaint")
        proxy.rubbish = False
        answers_again(caller)


def test_charges_of_cancelled_calls_stand(redis, serve):
    """What was handed to Redis is charged once, though nobody waits for it any more."""
    with Proxy(redis.port) as proxy:
        caller = ready(serve(proxy.url, "--redis-timeout", "20s", "--redis-connect-timeout", "20s"))
        redis.freeze()
        futures = [caller.future("d", [[key, "a"]]) for _ in range(50) for key in ("big", "paid")]
        wait_until(lambda: proxy.n_charges == 100, "100 charges on their way")
        for f in futures:
            f.cancel()
        assert all(f.cancelled() for f in futures)
        redis.thaw()
        wait_until(lambda: charged(redis, "paid") == 50, "50 booked costs")
        assert charged(redis, "big") == 50


def charged(redis, key):
    return int(redis.call("GET", f"weir:{{d|{key}=a}}|3600s") or 0)


@pytest.mark.valkey
def test_many_callers_through_two_servers(redis, serve):
    """Exactly so much is let through, however it is spread."""
    servers = [serve(redis.url, *PATIENT) for _ in range(2)]
    callers = [ready(s) for s in servers]
    futures = [callers[i % 2].future("d", [["k", f"v{i % 20}"]]) for i in range(400)]
    codes = [oraclelib.rls_pb2.RateLimitResponse.FromString(f.result()).overall_code for f in futures]
    assert codes.count(oraclelib.rls_pb2.RateLimitResponse.OK) == 20 * 5


@pytest.mark.parametrize("url, hint", [("ftp://x", "--redis-url"), ("127.0.0.1:nonsense", "--redis-url")])
def test_wrong_url_ends_the_start(url, hint):
    result = weirserver.run(weirserver.binary("weir"), "--store", "redis", "--redis-url", url, "--grpc-listen",
                            "127.0.0.1:0", "--rules", "/")
    assert result.returncode == 64
    assert hint in result.stderr
