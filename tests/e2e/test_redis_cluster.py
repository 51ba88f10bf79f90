# SPDX-License-Identifier: Apache-2.0
"""A Redis cluster: slots, redirections, moving slots, and primaries that die under load."""
import collections
import contextlib
import itertools
import shutil
import tempfile
import threading
import time

import pytest
from certificates import Authority
from delays import Delays
from oraclelib import rls_pb2
from redisbed import counted
from rediscluster import HASTY_MS, PATIENT_MS, Cluster
from redisserver import Connection, RedisServer, find_server
from weirserver import eventually, replace, same, wait_until

RULES = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 20}
  - key: limited
    rate_limit: {unit: hour, requests_per_unit: 120}
"""
TOGETHER = """
domain: t
count: all_or_nothing
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 20}
  - key: limited
    rate_limit: {unit: hour, requests_per_unit: 40}
"""
# A sanitized server on a busy machine needs longer than a tuned one; what is looked at here is not time.
PATIENT = ("--redis-timeout", "20s")
LETTERS = "abcdef"
HOURS = "rate_limit: {unit: hour, requests_per_unit: 20}"
NONE = "rate_limit: {unit: hour, requests_per_unit: 0}"
ALONE = f"domain: l\ndescriptors:\n  - {{key: k, {HOURS}}}\n  - {{key: full, {NONE}}}\n"
BOUND = ALONE.replace("domain: l\n", "domain: l\ncount: all_or_nothing\n")
LAYERS = """
domain: l
descriptors:
  - key: k
    limits: [{unit: hour, requests_per_unit: 20}, {unit: day, requests_per_unit: 0}]
"""


def make_cluster(settings=(), **more):
    folder = tempfile.mkdtemp(prefix="weir-cluster.")
    program = find_server(folder)
    assert program, "no redis-server here; Debian has it in redis-tools"
    cluster = Cluster(program, folder, **more)
    try:
        yield cluster.start(*settings)
    finally:
        cluster.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def shared_cluster():
    yield from make_cluster()


@pytest.fixture
def cluster(shared_cluster):
    """Without keys, and with all its nodes; a test that kills some makes its own."""
    shared_cluster.settle()
    for node in shared_cluster.primaries():
        node.call("FLUSHALL")
        node.call("CONFIG", "RESETSTAT")
    return shared_cluster


@pytest.fixture
def own_cluster():
    yield from make_cluster()


@pytest.fixture
def serve(launch):
    def start(cluster, *flags, url=None, is_reachable=True, **more):
        server = launch({"d.yaml": RULES, "t.yaml": TOGETHER}, "--store", "redis", "--redis-type", "cluster",
                        "--redis-url", url or cluster.url, *(flags or PATIENT), **more)
        if is_reachable:
            wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
        return server
    return start


class Load:
    """Calls one after another in some threads, until the end; what became of each is counted."""

    def __init__(self, server, n_threads, make):
        self.server, self.make = server, make
        self.lock, self.over = threading.Lock(), threading.Event()
        self.admitted = collections.Counter()   # by value of the descriptor
        self.codes = collections.Counter()
        self.took = []      # (seconds, begun)
        self.n, self.sequence = 0, itertools.count()
        self.threads = [threading.Thread(target=self.run, args=(server.caller(),)) for _ in range(n_threads)]

    def run(self, caller):
        while not self.over.is_set():
            domain, key, value = self.make(next(self.sequence))
            begun = time.monotonic()
            reply = caller.call(domain, [[key, value]])
            took = time.monotonic() - begun
            with self.lock:
                self.n += 1
                self.took.append((took, begun))
                self.codes[reply.get("error") or reply["overall"]] += 1
                if reply.get("overall") == "OK":
                    self.admitted[value] += 1

    def wait_for_more(self, n):
        """Until so many more calls were answered."""
        goal = self.n + n
        wait_until(lambda: self.n >= goal, f"{n} more answers")

    def wait_for_good(self, n):
        goal = self.codes["OK"] + n
        wait_until(lambda: self.codes["OK"] >= goal, f"{n} more good answers")

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


@pytest.mark.valkey
def test_keys_in_several_slots(cluster, serve):
    caller = serve(cluster).caller()
    descriptors = [[["k", letter]] for letter in LETTERS]
    for left in range(19, -1, -1):
        same(f"OK: {', '.join([f'OK {left} of 20/HOUR'] * 6)}", caller.call("d", *descriptors))
    same(f"OVER: {', '.join(['OVER 0 of 20/HOUR'] * 6)}", caller.call("d", *descriptors))
    slots = {cluster.slot_of(key) for key in cluster.counters()}
    assert len(cluster.counters()) == 6
    assert len(slots) >= 3
    assert len({cluster.owner_of(slot).port for slot in slots}) >= 2


STOP = "--stop-increment-when-over-limit"
OF_RULES = "`all_or_nothing`, which the limits of one list are too, does not hold"
OF_STOP = f"warning: {STOP} (STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT) does not hold with --redis-keys reference"


@pytest.mark.valkey
@pytest.mark.parametrize("rules, flags, pairs, told", [
    (LAYERS, (), [["k", "a"]], OF_RULES),
    (BOUND, (), [["k", "a"], ["full", "b"]], OF_RULES),
    (ALONE, (STOP,), [["k", "a"], ["full", "b"]], OF_STOP),
    (ALONE, (), [["k", "a"], ["full", "b"]], None),
])
@pytest.mark.parametrize("form", ["reference", "readable"])
def test_what_lies_apart_under_keys_of_the_reference_is_told_and_counted(cluster, launch, form, rules, flags,
                                                                         pairs, told):
    server = launch({"l.yaml": rules}, "--store", "redis", "--redis-type", "cluster", "--redis-url", cluster.url,
                    "--redis-keys", form, *flags, *PATIENT, program="weir_observed")
    wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
    is_apart = form == "reference" and told is not None
    for text in OF_RULES, OF_STOP:
        assert (text in server.log()) == (is_apart and text == told), server.log()
    caller = server.caller()
    for _ in range(3):
        assert caller.call("l", *[[pair] for pair in pairs])["overall"] == "OVER_LIMIT"
    of_hours = [key for key in cluster.counters() if b"k" in key and b"86400s" not in key and b"full" not in key]
    charged = sum(int(cluster.owner_of(cluster.slot_of(key)).call("GET", key)) for key in of_hours)
    assert charged == (3 if is_apart or told is None else 0)
    assert counted(server)["store_apart_total"] == (3 if is_apart else 0)


@pytest.mark.valkey
def test_keys_of_an_all_or_nothing_domain_in_one_slot(cluster, serve):
    caller = serve(cluster).caller()
    descriptors = [[["k", letter]] for letter in LETTERS]
    for left in range(19, -1, -1):
        same(f"OK: {', '.join([f'OK {left} of 20/HOUR'] * 6)}", caller.call("t", *descriptors))
    same(f"OVER: {', '.join(['OVER 0 of 20/HOUR'] * 6)}", caller.call("t", *descriptors))
    assert len(cluster.counters()) == 6
    assert len({cluster.slot_of(key) for key in cluster.counters()}) == 1


def test_a_domain_that_comes_to_lie_in_one_slot_begins_anew(cluster, serve):
    """As the documentation says: its counters move to other keys, and back."""
    server = serve(cluster)
    caller = server.caller()
    same("OK: OK 16 of 20/HOUR", caller.call("d", {"entries": [["k", "a"]], "hits": 4}))
    replace(server.rules, "d.yaml", RULES.replace("120}", "120, count: all_or_nothing}").replace(": 20}", ": 30}"))
    eventually("OK: OK 30 of 30/HOUR", lambda: caller.peek("d", ["k", "a"]))
    same("OK: OK 29 of 30/HOUR", caller.call("d", [["k", "a"]]))
    assert sorted(cluster.counters()) == [b"weir:{d|k=a}|3600s", b"weir:{d}|k=a|3600s"]
    replace(server.rules, "d.yaml", RULES)
    eventually("OK: OK 16 of 20/HOUR", lambda: caller.peek("d", ["k", "a"]))


def test_counts_are_shared_by_servers(cluster, serve):
    one, other = (serve(cluster).caller() for _ in range(2))
    for left in range(19, 0, -2):
        same(f"OK: OK {left} of 20/HOUR", one.call("d", [["k", "a"]]))
        same(f"OK: OK {left - 1} of 20/HOUR", other.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 20/HOUR", one.call("d", [["k", "a"]]))


@pytest.mark.valkey
def test_a_replica_alone_as_seed(cluster, serve):
    server = serve(cluster, *PATIENT, url=cluster.nodes[-1].url)
    for letter in LETTERS:
        same("OK: OK 19 of 20/HOUR", server.caller().call("d", [["k", letter]]))


def test_a_seed_that_is_away(cluster, serve):
    server = serve(cluster, *PATIENT, url=f"127.0.0.1:1,{cluster.nodes[1].url}")
    for letter in LETTERS:
        same("OK: OK 19 of 20/HOUR", server.caller().call("d", [["k", letter]]))


@pytest.mark.valkey
def test_scripts_flushed_on_each_node_under_load(cluster, serve):
    """No call fails, and none counts twice."""
    server = serve(cluster)
    with Load(server, 4, lambda i: ("d", "k", f"v{i % 20}")) as load:
        for _ in range(3):
            for node in cluster.primaries():
                load.wait_for_more(60)
                node.call("SCRIPT", "FLUSH")
        load.wait_for_more(60)
    assert set(load.codes) == {"OK", "OVER_LIMIT"}
    assert load.admitted == {f"v{i}": 20 for i in range(20)}


@pytest.mark.valkey
def test_a_busy_slot_moves_under_load(cluster, serve):
    """Round the primaries, with many keys in it that are made while it moves."""
    server = serve(cluster)
    same("OK: OK 39 of 40/HOUR", server.caller().call("t", [["limited", "first"]]))
    slot = cluster.slot_of(next(iter(cluster.counters())))
    with Load(server, 4, lambda i: ("t", "limited", f"v{i // 60}")) as load:
        for target in 2 * cluster.primaries():
            if target is not cluster.owner_of(slot):
                move_under_load(cluster, slot, target, load)
    assert set(load.codes) == {"OK", "OVER_LIMIT"}
    n_values = load.n // 60 - 1     # those that had all their calls
    assert n_values > 5
    assert {load.admitted[f"v{i}"] for i in range(n_values)} == {40}
    assert {cluster.slot_of(key) for key in cluster.counters()} == {slot}


def move_under_load(cluster, slot, target, load):
    source = cluster.begin_migration(slot, target)
    load.wait_for_more(100)
    while cluster.move_keys(slot, source, target, at_once=3):
        load.wait_for_more(5)
    load.wait_for_more(60)
    cluster.end_migration(slot, source, target)
    load.wait_for_more(60)


def test_a_slot_moves_to_a_new_node_under_load(own_cluster, serve):
    cluster = own_cluster
    server = serve(cluster)
    same("OK: OK 39 of 40/HOUR", server.caller().call("t", [["limited", "first"]]))
    slot = cluster.slot_of(next(iter(cluster.counters())))
    with Load(server, 4, lambda i: ("t", "limited", f"v{i // 60}")) as load:
        load.wait_for_more(60)
        move_under_load(cluster, slot, cluster.add_primary(), load)
    assert set(load.codes) == {"OK", "OVER_LIMIT"}
    assert {load.admitted[f"v{i}"] for i in range(load.n // 60 - 1)} == {40}


@pytest.mark.valkey
def test_a_call_whose_keys_are_at_two_nodes_waits(cluster, serve):
    """While a slot moves, a script on some keys that have moved and some that have not is told to try again."""
    caller = serve(cluster).caller()
    both = [[["k", "a"]], [["k", "b"]]]
    same("OK: OK 19 of 20/HOUR, OK 19 of 20/HOUR", caller.call("t", *both))
    slot = cluster.slot_of(next(iter(cluster.counters())))
    target = next(n for n in cluster.primaries() if n is not cluster.owner_of(slot))
    source = cluster.begin_migration(slot, target)
    assert cluster.move_keys(slot, source, target, at_once=1) == 1
    reply = caller.future("t", *both)
    wait_until(lambda: "errorstat_TRYAGAIN" in source.call("INFO", "errorstats").decode(), "TRYAGAIN")
    assert not reply.done()
    assert cluster.move_keys(slot, source, target) == 1
    assert rls_pb2.RateLimitResponse.FromString(reply.result()).overall_code == rls_pb2.RateLimitResponse.OK
    cluster.end_migration(slot, source, target)
    same("OK: OK 17 of 20/HOUR, OK 17 of 20/HOUR", caller.call("t", *both))


def test_a_call_whose_keys_stay_at_two_nodes_ends_in_time(cluster, serve):
    server = serve(cluster, "--redis-timeout", "2s")
    caller = server.caller()
    both = [[["k", "a"]], [["k", "b"]]]
    same("OK: OK 19 of 20/HOUR, OK 19 of 20/HOUR", caller.call("t", *both))
    slot = cluster.slot_of(next(iter(cluster.counters())))
    target = next(n for n in cluster.primaries() if n is not cluster.owner_of(slot))
    source = cluster.begin_migration(slot, target)
    assert cluster.move_keys(slot, source, target, at_once=1) == 1
    with Delays(server, *cluster.nodes) as delays:
        begun = time.monotonic()
        assert caller.call("t", *both) == {"error": "UNAVAILABLE"}
        ended = time.monotonic()
    assert delays.is_prompt(begun, ended, 5), ended - begun
    cluster.migrate_rest(slot, source, target)
    wait_until(lambda: "error" not in caller.call("t", [["k", "c"]]), "answers after the move")
    same("OK: OK 18 of 20/HOUR, OK 18 of 20/HOUR", caller.call("t", *both))


N_VALUES, LIMIT = 64, 120
# Of a call, and from the promotion until every slot counts again; what a busy machine adds comes on top.
PROMPT_SECONDS = 2


@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_a_primary_that_goes_under_load(own_cluster, serve, how):
    """Every call is answered in time; what the dead one owned counts again within 2 s of the promotion of its
    replica, and admits no more than the limit and what had not been replicated yet."""
    cluster = own_cluster
    server = serve(cluster, "--redis-timeout", "100ms")
    victim = cluster.nodes[0]
    heir = cluster.replica_of(victim)
    others = [n for n in cluster.nodes if n is not victim]
    with Delays(server, *cluster.nodes) as delays, Load(server, 4, lambda i: ("d", "limited", f"v{i % N_VALUES}")) as load:
        load.wait_for_good(500)
        cluster.hold_dead_after(HASTY_MS, cluster.nodes)
        # With the lock each caller comes to the end of its call, so that the replica lacks no more than these.
        with load.lock:
            wait_for_replica(cluster, victim)
            getattr(victim, {"killed": "kill", "frozen": "freeze"}[how])()
        wait_until(lambda: cluster.is_primary(heir), "a promoted replica")
        cluster.hold_dead_after(PATIENT_MS, others)
        wait_until(lambda: all(cluster.state_of(n) == "ok" for n in others), "a whole cluster")
        begun = time.monotonic()
        wait_until(lambda: counts_everywhere(server), "every slot counts again")
        recovered = time.monotonic()
        if how == "frozen":
            victim.thaw()
        wait_until(lambda: is_all_over(server), "every value at its limit", 300)
    print(f"{how}: {load.n} calls, {dict(load.codes)}, slowest {max(load.took)[0]:.3f} s, "
          f"recovery {recovered - begun:.3f} s (of which a busy machine added {delays.within(begun, recovered):.3f} s), "
          f"admitted {sum(load.admitted.values()) - N_VALUES * LIMIT:+} to {N_VALUES * LIMIT}")
    assert delays.is_prompt(begun, recovered, PROMPT_SECONDS), recovered - begun
    for took, begun in load.took:
        assert delays.is_prompt(begun, begun + took, PROMPT_SECONDS), took
    assert set(load.codes) == {"OK", "OVER_LIMIT", "UNAVAILABLE"}
    assert sum(load.admitted.values()) <= N_VALUES * LIMIT + len(load.threads)


def wait_for_replica(cluster, primary):
    """Until its replica has all that it was told so far."""
    key = next(k for k in map(str, itertools.count()) if cluster.owner_of(cluster.slot_of(k)) is primary)
    with Connection(primary.port) as c:
        c.call("SET", key, "x", "PX", 60000)
        assert c.call("WAIT", 1, 30000) == 1


def counts_everywhere(server):
    caller = server.caller()
    return all("error" not in caller.peek("d", ["limited", f"v{i}"]) for i in range(N_VALUES))


def is_all_over(server):
    replies = [server.caller().peek("d", ["limited", f"v{i}"]) for i in range(N_VALUES)]
    return all("error" not in r and r["statuses"][0]["remaining"] == 0 for r in replies)


def test_all_nodes_away_and_back(own_cluster, serve):
    cluster = own_cluster
    server = serve(cluster)
    same("OK: OK 19 of 20/HOUR", server.caller().call("d", [["k", "a"]]))
    for node in cluster.nodes:
        node.kill()
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    wait_until(lambda: "health: NOT_SERVING, reason: store" in server.log(), "NOT_SERVING")
    for node in cluster.nodes:
        cluster.restart(node)
    wait_until(cluster.is_whole, "a whole cluster")
    wait_until(lambda: "error" not in server.caller().call("d", [["k", "b"]]), "answers after the nodes' return")


# What the user of a limiter needs in a cluster, and no more.
USER = ("--user", "weir", "on", ">swordfish", "~weir:*", "+@connection", "+@scripting", "+@read", "+@write", "+time",
        "+cluster|shards")


def test_a_user_with_few_rights_and_tls(serve, tmp_path):
    authority = Authority(tmp_path)
    pair = authority.issue("redis", "DNS:localhost", "IP:127.0.0.1")
    tls = ("--tls-cert-file", pair.cert, "--tls-key-file", pair.key, "--tls-ca-cert-file", authority.cert,
           "--tls-auth-clients", "no")
    with contextlib.contextmanager(make_cluster)(USER, tls_settings=tls) as cluster:
        server = serve(cluster, *PATIENT, "--redis-tls-ca", authority.cert,
                       url=f"rediss://weir:swordfish@localhost:{cluster.tls_ports[-1]}")
        for letter in LETTERS:
            same("OK: OK 19 of 20/HOUR", server.caller().call("d", [["k", letter]]))
        assert len({cluster.owner_of(cluster.slot_of(key)).port for key in cluster.counters()}) >= 2


@pytest.mark.valkey
def test_a_user_who_may_not_ask_for_the_map(cluster, serve):
    for node in cluster.nodes:
        node.call("ACL", "SETUSER", "weir", "on", ">swordfish", "~weir:*", "+@connection", "+@scripting", "+@read",
                  "+@write", "+time")
    server = serve(cluster, url=f"redis://weir:swordfish@{cluster.nodes[0].url}", is_reachable=False)
    wait_until(lambda: "allow it +cluster|shards" in server.log(), "advice in the log")
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    for node in cluster.nodes:
        node.call("ACL", "SETUSER", "weir", "+cluster|slots")
    wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
    for letter in LETTERS:
        same("OK: OK 19 of 20/HOUR", server.caller().call("d", [["k", letter]]))


@pytest.mark.valkey
def test_no_cluster(serve, tmp_path):
    redis = RedisServer(find_server(str(tmp_path)), str(tmp_path))
    redis.start()
    try:
        server = serve(None, url=redis.url, is_reachable=False)
        wait_until(lambda: "set --redis-type single" in server.log(), "advice in the log")
        assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    finally:
        redis.stop()


@pytest.mark.valkey
def test_a_cluster_taken_for_one_server(cluster, launch):
    server = launch(RULES, "--store", "redis", "--redis-url", cluster.nodes[0].url, *PATIENT)
    wait_until(lambda: any("error" in server.caller().call("d", [["k", letter]]) for letter in LETTERS), "an error")
    wait_until(lambda: "set --redis-type cluster" in server.log() or "CROSSSLOT" in server.log(), "advice in the log")
