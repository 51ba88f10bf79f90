# SPDX-License-Identifier: Apache-2.0
"""Sentinels: the primary that they name is followed, through fail-overs under load, whatever is plain and whatever
is secret on either side."""
import shutil
import tempfile
import threading
import time

import grpc
import oraclelib
import pytest
from certificates import Authority
from delays import Delays
from grpc_health.v1 import health_pb2
from redissentinel import HASTY_MS, NAME, PATIENT_MS, Security, Watched
from redisserver import find_server, find_valkey
from weirserver import PATIENCE_SECONDS, same, wait_until

LIMIT = 300
RULES = f"""
domain: d
descriptors:
  - key: k
    rate_limit: {{unit: hour, requests_per_unit: 5}}
  - key: few
    rate_limit: {{unit: hour, requests_per_unit: {LIMIT}}}
  - key: quick
    rate_limit: {{unit: second, requests_per_unit: 1000}}
  - key: big
    rate_limit: {{unit: hour, requests_per_unit: 1000000}}
"""
# A sanitized server on a busy machine needs longer than a tuned one.
PATIENT = ("--redis-timeout", "10s", "--redis-connect-timeout", "10s")
PROMPT_MS = 500
PROMPT = ("--redis-timeout", f"{PROMPT_MS}ms", "--redis-connect-timeout", "1s")
# Of a call, and from the promotion of a replica until it counts; what a busy machine adds comes on top.
SLOWEST_SECONDS, RECOVERY_SECONDS = 5, 2
OVER = oraclelib.rls_pb2.RateLimitResponse.OVER_LIMIT


@pytest.fixture
def watch():
    """watch(n_sentinels=3, data=…, sentinel=…): what sentinels look after; ends with the test."""
    folders, all_of_them = [], []

    def start(**more):
        folders.append(tempfile.mkdtemp(prefix="weir-sentinel."))
        program = find_server(folders[-1])
        assert program, "no redis-server here; Debian has it in redis-tools"
        all_of_them.append(Watched(program, folders[-1], **more))
        return all_of_them[-1].start()

    yield start
    for watched in all_of_them:
        watched.stop()
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def pair(authority):
    return authority.issue("redis", "IP:127.0.0.1")


@pytest.fixture
def serve(launch):
    def start(url, *flags, **more):
        return launch(RULES, "--store", "redis", "--redis-type", "sentinel", "--redis-url", url, *flags, **more)
    return start


def ready(server):
    """Waits until the server has reached its Redis."""
    wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
    return server.caller()


def health(server):
    check = server.caller().channel.unary_unary("/grpc.health.v1.Health/Check")
    return health_pb2.HealthCheckResponse.ServingStatus.Name(
        health_pb2.HealthCheckResponse.FromString(check(b"", timeout=PATIENCE_SECONDS)).status)


def used(caller, key, limit):
    return limit - caller.peek("d", [key, "a"])["statuses"][0]["remaining"]


@pytest.mark.valkey
def test_counts_at_the_primary(watch, serve):
    watched = watch()
    server = serve(watched.url, *PATIENT)
    caller = ready(server)
    for left in range(4, -1, -1):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert watched.first.n_counted() == 6
    assert watched.second.n_counted() == 0
    assert f"the primary {NAME} is at 127.0.0.1:{watched.first.port}" in server.log()


def test_the_incumbents_variables(watch, launch):
    watched = watch(n_sentinels=1, data=Security("swordfish"), sentinel=Security("open-sesame"))
    env = {"BACKEND_TYPE": "redis", "REDIS_PERSECOND": "true"}
    for prefix in ("REDIS", "REDIS_PERSECOND"):
        env.update({f"{prefix}_TYPE": "SENTINEL", f"{prefix}_URL": watched.url, f"{prefix}_AUTH": "swordfish",
                    f"{prefix}_SENTINEL_AUTH": "open-sesame"})
    caller = ready(launch(RULES, *PATIENT, env=env))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OK: OK 999 of 1000/SECOND", caller.call("d", [["quick", "a"]]))
    assert watched.first.n_counted() == 2


class Answer:
    """code: None: OK or OVER_LIMIT came; is_over says which."""

    def __init__(self, begun, key, code, is_over):
        self.begun, self.ended, self.key, self.code, self.is_over = begun, time.monotonic(), key, code, is_over

    @property
    def is_ok(self):
        return self.code is None and not self.is_over


class Load:
    """Threads that call, one call after another, until told to stop. answers: of all of them."""

    def __init__(self, caller, n_threads=4):
        self.caller, self.answers, self.is_over = caller, [], threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(n_threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def run(self):
        while not self.is_over.is_set():
            for key in ("big", "few"):
                begun, code, is_over = time.monotonic(), None, False
                try:
                    data = self.caller.future("d", [[key, "a"]]).result()
                    is_over = oraclelib.rls_pb2.RateLimitResponse.FromString(data).overall_code == OVER
                except grpc.RpcError as e:
                    code = e.code()
                self.answers.append(Answer(begun, key, code, is_over))
                if code:
                    self.is_over.wait(0.01)     # what is refused at once would leave no time to the others

    def n_ok(self, key, begin=0.0, end=float("inf")):
        """Those of which a part was in that time."""
        return sum(a.is_ok and a.key == key and begin <= a.ended and a.begun < end for a in list(self.answers))


def expect_sound(load, delays):
    """No call was stuck, and none failed by anything but a store that was away."""
    assert {a.code for a in load.answers} <= {None, grpc.StatusCode.UNAVAILABLE}
    for a in load.answers:
        assert delays.is_prompt(a.begun, a.ended, SLOWEST_SECONDS), a.ended - a.begun


def expect_recovery(watched, load, delays):
    """Waits until the replica is promoted, and until something is counted there -> that moment."""
    wait_until(watched.second.is_primary, "a promoted replica")
    promoted = time.monotonic()
    watched.hold_dead_after(PATIENT_MS)
    wait_until(lambda: watched.second.n_counted() > 0, "counting at the new primary")
    moved = time.monotonic()
    assert delays.is_prompt(promoted, moved, RECOVERY_SECONDS), moved - promoted
    wait_until(lambda: load.n_ok("big", begin=moved) > 50, "answers of the new primary")
    print(f"counting {moved - promoted:.2f} s after the promotion")
    return moved


def expect_bound(load, caller, begin, moved):
    """Asynchronous replication may lose what the old primary answered and had not passed on: no more than the answers
    from `begin`, when it was last known to be in step, until calls went to the new primary."""
    lost = load.n_ok("big", begin, moved)
    sent = sum(a.key == "big" for a in load.answers)
    in_store = used(caller, "big", 1000000)
    print(f"sent {sent}, OK {load.n_ok('big')}, counted {in_store}, at most lost {lost}")
    assert load.n_ok("big") - lost <= in_store <= sent
    admitted = load.n_ok("few") + rest_of(caller)
    print(f"admitted {admitted} of {LIMIT}")
    assert admitted <= LIMIT + load.n_ok("few", begin, moved)


def rest_of(caller):
    """Takes what is left of `few` -> how much that was."""
    taken = 0
    while (reply := caller.call("d", [["few", "a"]])).get("overall") == "OK":
        taken += 1
    assert reply.get("overall") == "OVER_LIMIT", reply
    return taken


def is_in_step(watched):
    """True when the replica has all that the primary had at this moment."""
    with_all = watched.first.call("INFO", "replication").decode()
    offset = next(line for line in with_all.splitlines() if line.startswith("master_repl_offset:"))
    wait_until(lambda: watched.second.call("ROLE")[4] >= int(offset.partition(":")[2]), "a replica in step")
    return True


def lose_primary(watched, server, lose, find=lambda: None):
    """Under load: `lose` is what happens to it, `find` what does when calls go to the other one."""
    caller = ready(server)
    with Delays(server, *watched.servers()) as delays, Load(caller) as load:
        wait_until(lambda: load.n_ok("big") > 100, "load")
        begin = time.monotonic()
        assert is_in_step(watched)
        lose()
        moved = expect_recovery(watched, load, delays)
        find()
    expect_sound(load, delays)
    expect_bound(load, caller, begin, moved)


@pytest.mark.valkey
def test_fail_over_under_load(watch, serve):
    watched = watch()
    server = serve(watched.url, *PROMPT)
    lose_primary(watched, server, watched.fail_over)
    assert f"the primary {NAME} is at 127.0.0.1:{watched.second.port}" in server.log()
    wait_until(lambda: health(server) == "SERVING", "SERVING with the new primary")


@pytest.mark.valkey
def test_killed_primary_under_load(watch, serve):
    watched = watch()
    server = serve(watched.url, *PROMPT)
    def kill():
        watched.hold_dead_after(HASTY_MS)
        watched.first.server.kill()

    lose_primary(watched, server, kill)
    wait_until(lambda: health(server) == "SERVING", "SERVING with the new primary")


def test_frozen_primary_under_load(watch, serve):
    """It wakes as a primary that nobody asks any more, and is made a replica."""
    watched = watch()
    server = serve(watched.url, *PROMPT)

    def freeze():
        watched.hold_dead_after(HASTY_MS)
        watched.first.server.freeze()

    def wake():
        watched.first.server.thaw()
        wait_until(watched.first.is_in_step, "a replica of the new primary")

    lose_primary(watched, server, freeze, wake)
    wait_until(lambda: health(server) == "SERVING", "SERVING with the new primary")


def test_valkey_takes_over_from_redis(watch, serve):
    """A replica of the other make has the counts, and keeps them as the primary."""
    watched = watch(second=find_valkey())
    assert b"server_name:valkey" in watched.second.call("INFO", "server")
    server = serve(watched.url, *PATIENT)
    caller = ready(server)
    for left in (4, 3, 2):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    wait_until(lambda: watched.second.call("GET", "weir:{d|k=a}|3600s") == b"3", "counts at the replica")
    watched.fail_over()
    wait_until(lambda: f"Redis primary at 127.0.0.1:{watched.second.port}: connected" in server.log(),
               "Weir at the new primary")
    same("OK: OK 1 of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert watched.second.n_counted() >= 1


def test_counts_while_all_sentinels_are_away(watch, serve):
    watched = watch(n_sentinels=2)
    server = serve(watched.url, *PATIENT)
    caller = ready(server)
    for sentinel in watched.sentinels:
        sentinel.stop()
    wait_until(lambda: all(f"Redis sentinel at {s.url}: " in server.log() for s in watched.sentinels), "a complaint")
    for left in range(4, -1, -1):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert health(server) == "SERVING"
    for sentinel in watched.sentinels:
        assert sentinel.run(), sentinel.log()
    wait_until(lambda: all(s.knows(2) for s in watched.sentinels), "sentinels that know each other")
    watched.fail_over()
    wait_until(lambda: "error" not in caller.call("d", [["big", "a"]]) and watched.second.n_counted() > 0,
               "counting at the new primary")


def test_starts_before_its_sentinels(watch, serve):
    watched = watch(n_sentinels=1)
    watched.sentinels[0].stop()
    server = serve(watched.url, *PATIENT)
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    assert health(server) == "NOT_SERVING"
    assert watched.sentinels[0].run()
    same("OK: OK 4 of 5/HOUR", ready(server).call("d", [["k", "a"]]))


def expect_unready(server, told):
    wait_until(lambda: told in server.log(), f"{told!r} in the log")
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    assert health(server) == "NOT_SERVING"


@pytest.mark.valkey
def test_unknown_name(watch, serve):
    watched = watch(n_sentinels=1)
    url = watched.sentinels[0].url
    server = serve(f"mistaken,{url}", *PATIENT)
    expect_unready(server, f"Redis sentinel at {url}: knows no primary of the name that --redis-url begins with, "
                           f"but {NAME}")


@pytest.mark.valkey
def test_a_server_is_no_sentinel(watch, serve):
    watched = watch(n_sentinels=1)
    server = serve(f"{NAME},127.0.0.1:{watched.first.port}", *PATIENT)
    expect_unready(server, f"Redis sentinel at 127.0.0.1:{watched.first.port}: does not know the command SENTINEL")


@pytest.mark.valkey
def test_users_with_few_rights(watch, serve):
    """On both sides, as the documentation has it."""
    watched = watch(n_sentinels=1)
    for node in (watched.first, watched.second):
        node.call("ACL", "SETUSER", "weir", "on", ">pw", "~weir:*", "+@connection", "+@scripting", "+@read", "+@write",
                  "+time")
    watched.sentinels[0].call("ACL", "SETUSER", "weir", "on", ">pw", "resetchannels", "&+switch-master",
                              "&+promoted-slave", "+auth", "+ping", "+client|setname", "+subscribe",
                              "+sentinel|get-master-addr-by-name", "+sentinel|master", "+sentinel|masters")
    server = serve(watched.url, *PATIENT, env={"REDIS_AUTH": "weir:pw", "REDIS_SENTINEL_AUTH": "weir:pw"})
    caller = ready(server)
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    watched.fail_over()
    wait_until(lambda: "error" not in caller.call("d", [["big", "a"]]) and watched.second.n_counted() > 0,
               "counting at the new primary")
    assert "may not" not in server.log() and "NOPERM" not in server.log()


@pytest.mark.valkey
@pytest.mark.parametrize("missing, advice", [
    ("+sentinel|get-master-addr-by-name", "allow it +sentinel|get-master-addr-by-name and +sentinel|master"),
    ("+subscribe", "allow it +subscribe &+switch-master &+promoted-slave")])
def test_user_of_a_sentinel_with_too_few_rights(watch, serve, missing, advice):
    watched = watch(n_sentinels=1)
    rights = [r for r in ("+auth", "+ping", "+client|setname", "+subscribe", "+sentinel|get-master-addr-by-name",
                          "+sentinel|master", "+sentinel|masters") if r != missing]
    watched.sentinels[0].call("ACL", "SETUSER", "weir", "on", ">pw", "resetchannels", "&*", *rights)
    server = serve(watched.url, *PATIENT, env={"REDIS_SENTINEL_AUTH": "weir:pw"})
    wait_until(lambda: advice in server.log(), "advice in the log")


def test_user_of_a_sentinel_who_may_not_subscribe(watch, serve):
    """That is told once, with its reason; the connection stays, and hears of it when the user may."""
    watched = watch(n_sentinels=1)
    sentinel = watched.sentinels[0]
    sentinel.call("ACL", "SETUSER", "weir", "on", ">pw", "resetchannels", "&*", "+auth", "+ping", "+client|setname",
                  "+sentinel|get-master-addr-by-name", "+sentinel|master", "+sentinel|masters")
    server = serve(watched.url, *PATIENT, env={"REDIS_SENTINEL_AUTH": "weir:pw"})
    ready(server)
    wait_until(lambda: denials(sentinel) >= 4, "several attempts to subscribe")
    lines = [line for line in server.log().splitlines() if "entinel" in line and "warning" in line]
    assert len(lines) == 1 and "the user may not SUBSCRIBE" in lines[0], lines
    sentinel.call("ACL", "SETUSER", "weir", "+subscribe")
    wait_until(lambda: b"sub=2" in sentinel.call("CLIENT", "LIST"), "a subscriber")


def denials(sentinel):
    """How often SUBSCRIBE was refused."""
    return sum(entry[1] for entry in sentinel.call("ACL", "LOG") if b"subscribe" in entry)


@pytest.mark.parametrize("sentinel_auth", ["none", "same", "another"])
@pytest.mark.parametrize("data_tls", [False, True], ids=["data-plain", "data-tls"])
@pytest.mark.parametrize("sentinel_tls", [False, True], ids=["sentinel-plain", "sentinel-tls"])
def test_mixed_security(watch, serve, authority, pair, sentinel_tls, data_tls, sentinel_auth):
    password = {"none": "", "same": "swordfish", "another": "open-sesame"}[sentinel_auth]
    watched = watch(n_sentinels=1,
                    data=Security("swordfish", *((pair, authority) if data_tls else ())),
                    sentinel=Security(password, *((pair, authority) if sentinel_tls else ())))
    flags = ["--redis-tls-ca", authority.cert] if sentinel_tls or data_tls else []
    flags += ["--redis-sentinel-tls"] if sentinel_tls else []
    flags += ["--redis-tls"] if data_tls else []
    server = serve(watched.url, *PATIENT, *flags, env={"REDIS_AUTH": "swordfish", "REDIS_SENTINEL_AUTH": password})
    caller = ready(server)
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    watched.fail_over()
    wait_until(lambda: "error" not in caller.call("d", [["big", "a"]]) and watched.second.n_counted() > 0,
               "counting at the new primary")
    assert "swordfish" not in server.log() and "open-sesame" not in server.log()


@pytest.mark.parametrize("data_auth, sentinel_auth, who, why", [
    ("wrong-one", "open-sesame", "primary", "answers WRONGPASS to AUTH or SELECT: user or password is wrong"),
    ("", "open-sesame", "primary", "answers NOAUTH"),
    ("swordfish", "wrong-one", "sentinel", "answers WRONGPASS to AUTH or SELECT: user or password is wrong"),
    ("swordfish", "swordfish", "sentinel", "answers WRONGPASS to AUTH or SELECT: user or password is wrong"),
    ("swordfish", "", "sentinel", "answers NOAUTH to CLIENT: a password is needed: set --redis-auth (of a sentinel: "
                                  "--redis-sentinel-auth)"),
])
def test_wrong_password(watch, serve, data_auth, sentinel_auth, who, why):
    watched = watch(n_sentinels=1, data=Security("swordfish"), sentinel=Security("open-sesame"))
    server = serve(watched.url, *PATIENT, env={"REDIS_AUTH": data_auth, "REDIS_SENTINEL_AUTH": sentinel_auth})
    url = watched.sentinels[0].url if who == "sentinel" else f"127.0.0.1:{watched.first.port}"
    expect_unready(server, f"Redis {who} at {url}: {why}")
    assert not [word for word in ("swordfish", "open-sesame", "wrong-one") if word in server.log()]
