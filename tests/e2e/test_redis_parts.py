# SPDX-License-Identifier: Apache-2.0
"""What is put around a Redis store: a second one for limits of a second, memory behind it, what is over before it;
and the forms of its keys."""
import time

import pytest
from ports import free_port
from test_redis import PATIENT, health, ready
from weirserver import run, binary, same, wait_until

RULES = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: s
    rate_limit: {unit: second, requests_per_unit: 1000}
  - key: local
    rate_limit: {unit: hour, requests_per_unit: 5, failure_mode: local}
"""


@pytest.fixture
def serve_parts(launch):
    def start(url, *flags, **more):
        return launch(RULES, "--store", "redis", "--redis-url", url, *PATIENT, *flags, **more)
    return start


def keys_of(server, pattern="*"):
    return sorted(k.decode() for k in server.call("KEYS", pattern) if b"{replicas}" not in k)


@pytest.mark.valkey
def test_limits_of_a_second_are_counted_apart(start_redis, serve_parts):
    main, second = start_redis(), start_redis()
    server = serve_parts(main.url, "--redis-per-second", "--redis-per-second-url", second.url)
    caller = ready(server)
    reply = caller.call("d", [["s", "a"]], [["k", "a"]])
    assert reply["overall"] == "OK"
    assert keys_of(main) == ["weir:{d|k=a}|3600s"]
    # It lives for a second: asked again until it is seen alive.
    wait_until(lambda: caller.call("d", [["s", "a"]]) and keys_of(second) == ["weir:{d|s=a}|1s"], "the key of a second")


def test_each_store_has_a_say_in_health(start_redis, serve_parts):
    main, second = start_redis(), start_redis()
    server = serve_parts(main.url, "--redis-per-second", "--redis-per-second-url", second.url)
    ready(server)
    second.kill()
    wait_until(lambda: health(server) == "NOT_SERVING", "NOT_SERVING without the second Redis")
    second.start()
    wait_until(lambda: health(server) == "SERVING", "SERVING with both")


@pytest.mark.valkey
def test_memory_keeps_counting_a_share(redis, serve_parts):
    servers = [serve_parts(redis.url) for _ in range(2)]
    callers = [ready(s) for s in servers]
    wait_until(lambda: redis.call("ZCARD", "weir:{replicas}") == 2, "both replicas known")
    for caller in callers:
        same("OK: OK 3..4 of 5/HOUR", caller.call("d", [["local", "a"]]))
    # The second mark of each tells it of the other.
    marks = redis.call("ZRANGE", "weir:{replicas}", 0, -1, "WITHSCORES")
    wait_until(lambda: all(a != b for a, b in zip(marks[1::2],
               redis.call("ZRANGE", "weir:{replicas}", 0, -1, "WITHSCORES")[1::2])), "another mark of each")
    redis.kill()
    for caller in callers:      # ceil(5 / 2) each
        for left in (2, 1, 0):
            same(f"OK: OK {left} of 3/HOUR", caller.call("d", [["local", "b"]]))
        same("OVER: OVER 0 of 3/HOUR", caller.call("d", [["local", "b"]]))
        assert caller.call("d", [["k", "b"]]) == {"error": "UNAVAILABLE"}


def test_memory_decides_nothing_while_replicas_are_unknown(serve_parts):
    caller = serve_parts(f"127.0.0.1:{free_port()}").caller()
    assert caller.call("d", [["local", "a"]]) == {"error": "UNAVAILABLE"}
    told = serve_parts(f"127.0.0.1:{free_port()}", "--replicas", "5").caller()
    same("OK: OK 0 of 1/HOUR", told.call("d", [["local", "a"]]))
    same("OVER: OVER 0 of 1/HOUR", told.call("d", [["local", "a"]]))


def mixed(sure):
    """Groups in which Redis is not there for one, and memory counts the other."""
    modes = [f"{{unit: day, requests_per_unit: 100, failure_mode: {sure}}}",
             "{unit: hour, requests_per_unit: 4, failure_mode: local}"]
    return {"d.yaml": "domain: d\ncount: all_or_nothing\ndescriptors:\n"
                      f"  - {{key: e, rate_limit: {modes[0]}}}\n  - {{key: l, rate_limit: {modes[1]}}}\n",
            "layers.yaml": "domain: layers\ndescriptors:\n"
                           f"  - {{key: k, limits: [{modes[0]}, {modes[1]}]}}\n"}


@pytest.mark.parametrize("mode, got, left", [("deny", "OVER_LIMIT", 4), ("error", "UNAVAILABLE", 4), ("allow", "OK", 1)])
def test_memory_charges_no_group_that_is_refused_anyway(launch, mode, got, left):
    server = launch(mixed(mode), "--store", "redis", "--redis-url", f"127.0.0.1:{free_port()}", "--replicas", "1")
    caller = server.caller()
    for _ in range(3):
        for reply in (caller.call("d", [["e", "1"]], [["l", "1"]]), caller.call("layers", [["k", "1"]])):
            assert (reply.get("error") or reply["overall"]) == got
    same(f"OK: OK {left} of 4/HOUR", caller.peek("d", ["l", "1"]))
    assert caller.call("layers", [["k", "1"]], hits=left + 1)["overall"] == "OVER_LIMIT"
    reply = caller.call("layers", [["k", "1"]], hits=left)
    assert (reply.get("error") or reply["overall"]) == got


def test_a_share_is_shown_beside_a_layer_that_is_let_through(launch):
    server = launch(mixed("allow"), "--store", "redis", "--redis-url", f"127.0.0.1:{free_port()}", "--replicas", "2")
    caller = server.caller()
    same("OK: OK 1 of 2/HOUR", caller.call("layers", [["k", "1"]]))
    same("OK: OK 0 of 2/HOUR", caller.call("layers", [["k", "1"]]))
    same("OVER: OVER 0 of 2/HOUR", caller.call("layers", [["k", "1"]]))


def test_what_is_over_is_answered_without_asking(redis, serve_parts):
    caller = ready(serve_parts(redis.url, "--over-limit-cache-bytes", "65536", "--replicas", "1"))
    for _ in range(5):
        caller.call("d", [["k", "a"]])
    for _ in range(3):
        same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))

    def is_seldom_asked():
        """Of 50 calls: once in 100 ms, and a probe each second. A busy machine may make them so slow that it is each."""
        started, before = time.monotonic(), redis.calls_of("evalsha")
        for _ in range(50):
            same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
        asked, took = redis.calls_of("evalsha") - before, time.monotonic() - started
        trusted, probes = int(took / 0.1) + 1, int(took) + 1
        assert asked <= trusted + probes
        return asked < 50

    wait_until(is_seldom_asked, "calls that are answered without asking")


@pytest.mark.valkey
def test_hashed_keys_hide_values_and_are_shared(redis, serve_parts, tmp_path):
    secret, again, other = tmp_path / "secret", tmp_path / "again", tmp_path / "other"
    secret.write_text("0123456789abcdef")
    again.write_text("0123456789abcdef\n")
    other.write_text("another secret of a replica")
    for i, (path, left) in enumerate([(secret, 4), (again, 3), (other, 4)]):
        caller = ready(serve_parts(redis.url, "--redis-key-hash", "--redis-key-secret-file", str(path)))
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "ann"]]))
        assert len(keys_of(redis)) == 1 + (i == 2)
    assert not [k for k in keys_of(redis) if "ann" in k or "d|" in k]


@pytest.mark.parametrize("flags, status, says", [
    (["--redis-key-hash"], 64, "needs --redis-key-secret-file"),
    (["--redis-key-hash", "--redis-key-secret-file", "/nonexistent/secret"], 66, "No such file"),
    (["--redis-key-hash", "--redis-key-secret-file", "/dev/null"], 65, "too little"),
    (["--redis-key-hash", "--redis-key-secret-file", "x", "--redis-keys", "reference"], 64, "cannot both be"),
    (["--redis-per-second"], 64, "needs --redis-per-second-url"),
    (["--redis-per-second", "--redis-per-second-url", "a:x"], 64, "--redis-per-second-url (REDIS_PERSECOND_URL)"),
])
def test_settings_that_cannot_be(tmp_path, flags, status, says):
    done = run(binary("weir"), "--rules", str(tmp_path), "--grpc-listen", "127.0.0.1:0", "--store", "redis",
               "--redis-url", f"127.0.0.1:{free_port()}", *flags)
    assert (done.returncode, says in done.stdout + done.stderr) == (status, True), done.stderr


@pytest.mark.valkey
def test_old_and_new_count_together(redis, serve_parts):
    """A key as envoyproxy/ratelimit writes it: INCRBY and EXPIRE on domain_key_value_<window start>."""
    caller = ready(serve_parts(redis.url, "--redis-keys", "reference"))
    start = int(time.time()) // 3600 * 3600
    key = f"d_k_a_{start}"
    redis.call("INCRBY", key, 2)
    redis.call("EXPIRE", key, 3600)
    same("OK: OK 2 of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert redis.call("INCRBY", key, 1) == 4
    same("OK: OK 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert redis.call("GET", key) == b"6"
    assert 0 < redis.call("TTL", key) <= 3600 + 300
    caller.call("d", [["k", "b"]])
    assert keys_of(redis) == [key, f"d_k_b_{start}"]


LAYERS = """
domain: d
descriptors:
  - key: k
    limits:
      - {unit: day, requests_per_unit: 1000}
      - {unit: week, requests_per_unit: 20}
      - {unit: week, requests_per_unit: 30}
      - {unit: day, requests_per_unit: 40, algorithm: token_bucket}
      - {unit: day, requests_per_unit: 50, algorithm: sliding_window}
      - {unit: day, requests_per_unit: 60, align: first_hit}
"""


@pytest.mark.valkey
def test_what_the_reference_does_not_know_has_names_of_its_own(redis, launch):
    server = launch(LAYERS, "--store", "redis", "--redis-url", redis.url, *PATIENT, "--redis-keys", "reference")
    caller = ready(server)
    for _ in range(2):
        assert caller.call("d", [["k", "a"]])["overall"] == "OK"
    days = [k.rpartition("_")[2] for k in keys_of(redis) if not k.startswith("d_k_a_|")]
    assert len(keys_of(redis)) == 6 and len(days) == 3
    assert [d.partition("|")[2] for d in sorted(days, key=len)] == ["", "604800s", "604800s|0.0.1"]
    assert [k for k in keys_of(redis) if k.startswith("d_k_a_|")] == [
        "d_k_a_|86400s|0.1.0", "d_k_a_|86400s|0.4.0", "d_k_a_|86400s|1.0.0"]
    assert redis.call("GET", f"d_k_a_{int(time.time()) // 86400 * 86400}") == b"2"
    # None but the incumbent's is without a prefix that tells whose it is.
    assert redis.call("EXISTS", "weir:{replicas}") == 1 and redis.call("EXISTS", "{replicas}") == 0
