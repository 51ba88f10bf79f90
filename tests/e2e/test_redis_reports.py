# SPDX-License-Identifier: Apache-2.0
"""Public reports about limits in Redis, each a case with the answer that people had a right to; the table of
test_field_reports.py names them. Sentinels and clusters have files of their own."""
import collections
import itertools
import os
import re
import socket
import threading
import time

import oraclelib
import pytest
import weirserver
from ports import free_port
from redisbed import NO_ANSWER, OK, OVER, Crowd, counted, let_last
from redisproxy import Proxy
from weirserver import same, wait_until

RULES = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 10}
  - key: three
    rate_limit: {unit: hour, requests_per_unit: 3}
  - key: many
    rate_limit: {unit: hour, requests_per_unit: 1000}
  - key: local
    rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: local}
  - key: second
    rate_limit: {unit: second, requests_per_unit: 5}
"""
# Time is not what is looked at, but where it says otherwise.
PATIENT = ("--redis-timeout", "10s", "--replicas", "2")


def code(reply):
    return reply.get("error") or reply["overall"]


def used(redis, key, value):
    return int(redis.call("GET", f"weir:{{d|{key}={value}}}|3600s") or 0)


# redis-script-flush

@pytest.mark.valkey
def test_redis_script_flush(bed):
    """300 calls a second, the script is flushed all the time, and nobody notices. Restarted Redis too."""
    redis = bed.redis()
    weir = bed.weir(RULES, redis.url, *PATIENT)
    pairs = [("k", f"v{i}") for i in range(20)]
    with Crowd([weir], pairs, rate=300) as crowd:
        for _ in range(8):
            crowd.wait_calls(60)
            redis.call("SCRIPT", "FLUSH")
    assert set(crowd.codes()) == {OK, OVER}
    assert crowd.per_key(OK) == {value: 10 for _, value in pairs}
    assert all(used(redis, "k", value) == n for value, n in crowd.per_key().items())
    redis.kill()
    redis.start()
    caller = weir.caller()
    wait_until(lambda: "error" not in caller.call("d", [["k", "probe"]]), "answers after the restart")
    same("OK: OK 9 of 10/HOUR", caller.call("d", [["k", "anew"]]))
    metrics = counted(weir)
    assert metrics["redis_script_reloads_total"] > 0
    assert metrics["store_timeout_total"] == 0


# redis-lost-reply

class LateReplies(Proxy):
    """Its delay is one of replies, not of commands."""

    def pass_on(self, from_, to, is_reply):
        if is_reply or not (data := from_.recv(65536)):
            super().pass_on(from_, to, is_reply)
        else:
            to.sendall(data)

    def reply(self, from_, to, data):
        if self.delay:
            self.late.append((time.monotonic() + self.delay, to, data))
        else:
            super().reply(from_, to, data)


def test_redis_lost_reply(bed):
    redis = bed.redis()
    proxy = bed.enter(Proxy(redis.port))
    weir = bed.weir(RULES, proxy.url, *PATIENT)
    caller = weir.caller()
    codes = collections.Counter()
    for i in range(100):
        if i % 10 == 9:
            proxy.cut_after = 0
        codes[code(caller.call("d", [["many", "a"]]))] += 1
    assert set(codes) == {OK, NO_ANSWER}
    assert codes[OK] <= used(redis, "many", "a") <= 100
    metrics = counted(weir)
    assert 1 <= metrics["failure_mode_error_total"] == codes[NO_ANSWER] <= 10
    assert metrics["store_lost_total"] == metrics["store_timeout_total"] == codes[NO_ANSWER]


def test_redis_lost_reply_that_comes_late(bed):
    redis = bed.redis()
    proxy = bed.enter(LateReplies(redis.port))
    weir = bed.weir(RULES, proxy.url, "--replicas", "1", "--redis-timeout", "1s", "--redis-breaker", "1000")
    caller = weir.caller()
    same("OK: OK 999 of 1000/HOUR", caller.call("d", [["many", "a"]]))
    proxy.delay = 2.0
    futures = [caller.future("d", [["many", "a"]]) for _ in range(10)]
    codes = collections.Counter(f.exception().code().name for f in futures)
    proxy.delay = 0
    assert codes == {NO_ANSWER: 10}
    wait_until(lambda: used(redis, "many", "a") >= 11, "11 charges")
    assert used(redis, "many", "a") == 11
    wait_until(lambda: "error" not in caller.call("d", [["k", "probe"]]), "answers in time again")
    assert counted(weir)["failure_mode_error_total"] >= 10


# redis-dns-moves

class Address(Proxy):
    """A server at an address and port of its own."""

    def __init__(self, target_port, host, port):
        super().__init__(target_port)
        self.listener.close()
        self.listener = socket.create_server((host, port))
        self.port = port


def test_redis_dns_moves(bed):
    """The name leads elsewhere after a fail-over, at first to nobody yet."""
    first, second = bed.redis(), bed.redis()
    names = os.path.join(bed.folder(), "names")
    weirserver.replace(os.path.dirname(names), "names", "127.0.0.1")
    port, begun = free_port(), time.monotonic()
    with Address(first.port, "127.0.0.1", port):
        weir = bed.weir(RULES, f"redis.invalid:{port}", *PATIENT, env={"NAMES_FILE": names})
        caller = weir.caller()
        same("OK: OK 9 of 10/HOUR", caller.call("d", [["k", "a"]]))
    wait_until(lambda: "error" in caller.call("d", [["k", "a"]]), "an error without Redis")
    weirserver.replace(os.path.dirname(names), "names", "127.0.0.2")
    let_last(1)
    assert code(caller.call("d", [["k", "a"]])) == NO_ANSWER
    with Address(second.port, "127.0.0.2", port):
        wait_until(lambda: "error" not in caller.call("d", [["k", "b"]]), "answers of the new one")
        wait_until(lambda: used(second, "k", "b") > 0, "a count at the new one")
        assert used(first, "k", "b") == 0
        assert counted(weir)["redis_connect_failures_total"] < 20 + 5 * (time.monotonic() - begun)


def test_ends_while_a_name_is_looked_up(bed):
    """The system's resolver blocks for longer than an end may take: here, for ever."""
    names = os.path.join(bed.folder(), "names")
    weirserver.replace(os.path.dirname(names), "names", "127.0.0.1")
    server = weirserver.Server(weirserver.binary("weir_observed"), bed.folder())
    bed.stack.callback(server.stop)
    server.start(RULES, "--store", "redis", "--redis-url", f"redis.invalid:{free_port()}", env={"NAMES_FILE": names})
    os.remove(names)        # its own addresses it knows by now
    os.mkfifo(names)
    wait_until(lambda: "the name server does not answer in time" in server.log(), "a line in the log")
    assert code(server.caller().call("d", [["k", "a"]])) == NO_ANSWER
    begun = time.monotonic()
    assert counted(server)["redis_connect_failures_total"] >= 1
    assert time.monotonic() - begun < 30


# redis-acl-minimum

LEARNING = {"+eval", "+zadd", "+zremrangebyscore", "+zcard", "+pexpire"}
HELPFUL = {"+ping", "+eval", "+zadd", "+zremrangebyscore", "+zcard", "+pexpire", "+client|setname", "+role"}


def documented_rights():
    with open(os.path.join(weirserver.ROOT, "docs", "redis.md"), encoding="utf-8") as f:
        line, = re.findall(r"^ACL SETUSER weir (.* ~weir:.*)$", f.read(), re.M)
    return line.replace(">PASSWORD", ">swordfish").split()


def smoke(caller, value):
    """Codes of two charges, a look and a refund."""
    replies = [caller.call("d", [["k", value]]), caller.call("d", [["k", value]]), caller.peek("d", ["k", value]),
               caller.call("d", {"entries": [["k", value]], "refund": 1})]
    return [code(r) for r in replies]


def health(weir):
    return re.findall(r"health: (\w+)", weir.log())[-1]


def reconnect(redis):
    redis.call("CLIENT", "KILL", "USER", "weir")
    redis.call("SCRIPT", "FLUSH")
    wait_until(lambda: b"user=weir" in redis.call("CLIENT", "LIST"), "a new connection")


def test_redis_acl_minimum(bed):
    """The line in the documentation is enough, and each right in it is needed: for an answer, or where it says so."""
    rights = documented_rights()
    redis = bed.redis()
    redis.call("ACL", "SETUSER", "weir", *rights)
    weir = bed.weir(RULES, f"redis://weir:swordfish@{redis.url}", "--redis-timeout", "10s")
    caller = weir.caller()
    wait_until(lambda: redis.call("ZCARD", "weir:{replicas}") == 1, "a mark of the replica")
    assert smoke(caller, "all") == [OK] * 4
    assert redis.call("ACL", "LOG") == []       # nothing else was tried
    commands = {r for r in rights if r.startswith("+")}
    assert LEARNING < HELPFUL < commands
    told = 0
    for right in sorted(commands - {"+select"}):
        redis.call("ACL", "SETUSER", "weir", "-" + right[1:])
        reconnect(redis)
        assert (NO_ANSWER in smoke(caller, right)) == (right not in HELPFUL), right
        if right in LEARNING:
            told += 1
            wait_until(lambda n=told: weir.log().count("the number of replicas is not learnt") == n, f"no {right}")
            probed = redis.calls_of("evalsha") + 2
            wait_until(lambda n=probed: redis.calls_of("evalsha") >= n, "two probes more")
        if right in HELPFUL:
            wait_until(lambda: health(weir) == "SERVING", f"SERVING without {right}")
        else:
            wait_until(lambda: health(weir) == "NOT_SERVING", f"NOT_SERVING without {right}")
        learnt = redis.calls_of("zcard")
        redis.call("ACL", "SETUSER", "weir", right)
        reconnect(redis)
        wait_until(lambda n=learnt: redis.calls_of("zcard") > n, "the number of replicas again")
        wait_until(lambda: health(weir) == "SERVING", f"SERVING with {right} again")
        assert smoke(caller, right + "again") == [OK] * 4, right
    assert "the user may not do this: allow it +evalsha" in weir.log()
    assert "swordfish" not in weir.log()


@pytest.mark.valkey
def test_redis_acl_minimum_with_replicas(bed):
    """Who is told the number of replicas needs no right to learn it, and does not try."""
    redis = bed.redis()
    redis.call("ACL", "SETUSER", "weir", *(r for r in documented_rights() if r not in LEARNING))
    weir = bed.weir(RULES, f"redis://weir:swordfish@{redis.url}", *PATIENT)
    assert smoke(weir.caller(), "a") == [OK] * 4
    wait_until(lambda: redis.calls_of("evalsha") >= 8, "some probes")
    assert health(weir) == "SERVING"
    assert redis.call("ACL", "LOG") == []
    redis.call("CONFIG", "SET", "maxmemory", "1")
    wait_until(lambda: health(weir) == "NOT_SERVING", "NOT_SERVING while it is full")
    redis.call("CONFIG", "SET", "maxmemory", "0")
    wait_until(lambda: health(weir) == "SERVING", "SERVING with room again")
    assert weir.log().count("answers OOM") == 1


@pytest.mark.valkey
def test_redis_acl_minimum_of_a_database(bed):
    redis = bed.redis()
    redis.call("ACL", "SETUSER", "weir", *documented_rights())
    weir = bed.weir(RULES, f"redis://weir:swordfish@{redis.url}/2", "--redis-timeout", "10s")
    caller = weir.caller()
    assert smoke(caller, "a") == [OK] * 4
    redis.call("ACL", "SETUSER", "weir", "-select")
    redis.call("CLIENT", "KILL", "USER", "weir")
    wait_until(lambda: "answers NOPERM to AUTH or SELECT" in weir.log(), "a line in the log")
    wait_until(lambda: "health: NOT_SERVING, reason: store" in weir.log(), "NOT_SERVING")
    assert smoke(caller, "b") == [NO_ANSWER] * 4


# fail-store-returns

def test_fail_store_returns(bed):
    """Two servers count apart while Redis is away, and together soon after; the log is short."""
    redis = bed.redis()
    weirs = [bed.weir(RULES, redis.url, *PATIENT) for _ in range(2)]
    callers = [w.caller() for w in weirs]

    def alternate(value, n):
        return [code(callers[i % 2].call("d", [["local", value]])) for i in range(n)]

    assert alternate("a", 30).count(OK) == 10
    redis.kill()
    assert alternate("b", 100) == [OK] * 10 + [OVER] * 90
    redis.start()
    for caller in callers:
        wait_until(lambda c=caller: "error" not in c.call("d", [["k", "probe"]]), "Redis's answers")
    assert alternate("c", 30).count(OK) == 10
    assert used(redis, "local", "c") == 30
    for weir in weirs:
        log = weir.log()
        assert log.count("is back") == 1
        assert 1 <= len(re.findall(r"Redis at .*tried again and again", log)) <= 3
        assert counted(weir)["failure_mode_local_total"] == 50


# count-refund-at-limit

@pytest.mark.valkey
@pytest.mark.parametrize("flags", [(), ("--over-limit-cache-bytes", "65536")], ids=["", "with a cache"])
def test_count_refund_at_limit(bed, flags):
    """Hits are given back through the other server."""
    redis = bed.redis()
    here, there = (bed.weir(RULES, redis.url, *PATIENT, *flags).caller() for _ in range(2))

    def take(value, n):
        return [here.call("d", [["three", value]]) for _ in range(n)]

    def refund(value, hits):
        return there.call("d", {"entries": [["three", value]], "refund": hits})

    def codes(replies):
        return [code(r) for r in replies]

    assert codes(take("a", 3)) == [OK] * 3
    same("OK: OK 1 of 3/HOUR", refund("a", 1))
    same("OK: OK 0 of 3/HOUR", take("a", 1)[0])
    same("OVER: OVER 0 of 3/HOUR", take("a", 1)[0])
    same("OK: OK 3 of 3/HOUR", refund("b", 5))
    assert codes(take("b", 4)) == [OK] * 3 + [OVER]
    assert codes(take("c", 5)) == [OK] * 3 + [OVER] * 2
    same("OK: OK 0 of 3/HOUR", refund("c", 2))
    assert codes(take("c", 2)) == [OVER] * 2


# count-burst-exact

def test_count_burst_exact(bed):
    """25 calls at once on each of 60 keys, by five connections to two servers; then on keys with one hit left."""
    redis = bed.redis()
    weirs = [bed.weir(RULES, redis.url, *PATIENT) for _ in range(2)]
    callers = [weirs[i % 2].caller() for i in range(5)]

    def burst(value):
        futures = [callers[i % 5].future("d", [["k", value]]) for i in range(25)]
        replies = [oraclelib.rls_pb2.RateLimitResponse.FromString(f.result()) for f in futures]
        return sorted(r.statuses[0].limit_remaining for r in replies if r.overall_code == r.OK)

    for i in range(60):
        assert burst(f"fresh{i}") == list(range(10)), i
    for i in range(20):
        callers[0].call("d", [["k", f"primed{i}"]], hits=9)
        assert burst(f"primed{i}") == [0], i


# time-window-story

class Switch(Proxy):
    """Two servers behind one address: each connection gets the other one."""

    def __init__(self, *ports):
        super().__init__(ports[0])
        self.ports = list(ports)

    def accept(self):
        self.ports.append(self.target_port)
        self.target_port = self.ports.pop(0)
        super().accept()


def story(caller, value):
    """Breaches in what three windows tell; a reply without a count tells nothing."""
    class Teller:
        @staticmethod
        def call(_):
            return caller.call("d", [["second", value]])

    found = oraclelib.story(Teller, {"window_ms": 1000, "calls": 30, "every_ms": 70})
    return [breach for breach in found if "no count" not in breach]


@pytest.mark.valkey
def test_time_window_story(bed):
    redis = bed.redis()
    caller = bed.weir(RULES, redis.url, "--redis-timeout", "100ms", "--replicas", "1").caller()
    stopper = threading.Thread(target=stop_for_a_moment, args=(redis,))
    stopper.start()
    found = story(caller, "a")
    stopper.join()
    assert not found


def stop_for_a_moment(redis):
    let_last(0.7)
    redis.freeze()
    let_last(0.3)
    redis.thaw()


def test_time_window_story_of_two_stores(bed):
    """The checker sees it when two empty servers are behind one name."""
    first, second = bed.redis(), bed.redis()
    proxy = bed.enter(Switch(first.port, second.port))
    caller = bed.weir(RULES, proxy.url, *PATIENT).caller()
    over = threading.Event()
    cutter = threading.Thread(target=cut_now_and_then, args=(over, proxy))
    cutter.start()
    try:
        values = itertools.count()
        wait_until(lambda: story(caller, f"v{next(values)}"), "a breach")
    finally:
        over.set()
        cutter.join()


def cut_now_and_then(over, proxy):
    while not over.wait(0.2):
        proxy.cut_after = 0
