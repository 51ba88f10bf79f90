# SPDX-License-Identifier: Apache-2.0
"""The client library: what it sends, what it makes of any answer and of none, one client in many threads."""
import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading

import fakerls
import grpc
import pytest
import weirserver
from envoy.service.ratelimit.v3 import rls_pb2
from grpc_health.v1 import health_pb2
from ports import free_port

LIB = os.path.join(os.path.dirname(weirserver.BIN), "lib")
INCLUDE = os.path.join(weirserver.ROOT, "client", "include")
OK, OVER_LIMIT, NO_ANSWER = 0, 1, 2
LATE = ["--timeout", "60s"]


def check(target, *words, timeout=("--timeout", "60s")):
    """weirctl check -> (exit status, what it said in JSON)."""
    result = weirserver.run(weirserver.binary("weirctl"), "check", *(words or ("d", "k=v")), "--json",
                            "--target", target, *timeout)
    return result.returncode, json.loads(result.stdout)


def check_fake(answer, *words, **more):
    with fakerls.serving(check=answer) as target:
        return check(target, *words, **more)


# ---- What is sent, by the official messages ----

def sent(*words):
    seen = []

    def keep(request, context):
        seen.append(rls_pb2.RateLimitRequest.FromString(request))
        return fakerls.reply(overall_code="OK")
    assert check_fake(keep, *words)[0] == OK
    assert len(seen) == 1
    return seen[0]


def request(domain="d", entries=((("k", "v"),),), hits=0, **descriptor):
    message = rls_pb2.RateLimitRequest(domain=domain, hits_addend=hits)
    for pairs in entries:
        added = message.descriptors.add(entries=[{"key": k, "value": v} for k, v in pairs])
        if "limit" in descriptor:
            added.limit.requests_per_unit, added.limit.unit = descriptor["limit"]
        if "addend" in descriptor:
            added.hits_addend.value = descriptor["addend"]
            added.hits_addend.SetInParent()
    return message


def test_sends_what_was_asked():
    assert sent("d", "k=v") == request()
    assert sent("d", "a=1,b=2", "c=") == request(entries=[[("a", "1"), ("b", "2")], [("c", "")]])
    assert sent("d", "k=v", "--hits", "4294967295") == request(hits=2**32 - 1)
    assert sent("d", "k=v", "l=w", "--limit", "10/minute") == request(
        entries=[[("k", "v")], [("l", "w")]], limit=(10, 2))
    assert sent("d", "q=a=b\\,c\\\\") == request(entries=[[("q", "a=b,c\\")]])
    assert sent("döm", "ключ=значение") == request("döm", [[("ключ", "значение")]])


def test_sends_a_peek_as_an_explicit_zero():
    message = sent("d", "k=v", "--peek")
    assert message == request(addend=0)
    assert message.descriptors[0].HasField("hits_addend")


def test_sends_a_refund():
    message = sent("d", "k=v", "--refund", "18446744073709551615")
    assert message.descriptors[0].hits_addend.value == 2**64 - 1
    # The official messages of the version in use do not know is_negative_hits = 4 and keep it as unknown.
    assert b"\x20\x01" in message.descriptors[0].SerializeToString()


def test_sends_eight_by_eight_and_a_long_value():
    pairs = [(f"key{i}", "v" * 1000 + str(i)) for i in range(8)]
    words = [",".join(f"{k}={v}" for k, v in pairs)] * 8
    assert sent("d", *words) == request(entries=[pairs] * 8)
    assert sent("d", "k=" + "x" * 100_000) == request(entries=[[("k", "x" * 100_000)]])


# ---- What is made of an answer ----

def test_admitted_and_refused():
    code, said = check_fake(fakerls.saying(fakerls.reply(overall_code="OK", statuses=[fakerls.status(
        code="OK", current_limit=fakerls.limit(requests_per_unit=10, unit="MINUTE", name="ten"), limit_remaining=9,
        duration_until_reset={"seconds": 30})])))
    assert code == OK
    assert said == {"outcome": "admitted", "code": "OK", "retry_after_ms": 0, "error": None, "statuses": [
        {"code": "OK", "limit": {"requests": 10, "unit": "minute", "name": "ten"}, "remaining": 9, "reset_ms": 30000}]}
    code, said = check_fake(fakerls.saying(fakerls.reply(overall_code="OVER_LIMIT", statuses=[
        fakerls.status(code="OVER_LIMIT", duration_until_reset={"seconds": 2, "nanos": 1}), fakerls.status(code="OK")])))
    assert code == OVER_LIMIT
    assert (said["outcome"], said["retry_after_ms"]) == ("refused", 2001)


@pytest.mark.parametrize("code, want", [("OK", OK), ("OVER_LIMIT", OVER_LIMIT)])
def test_a_verdict_needs_no_status(code, want):
    status, said = check_fake(fakerls.saying(fakerls.reply(overall_code=code)))
    assert status == want
    assert said["statuses"] == []


def test_a_verdict_counts_whatever_the_statuses_say():
    status, said = check_fake(fakerls.saying(fakerls.reply(overall_code="OK", statuses=[
        fakerls.status(code="OVER_LIMIT")])))
    assert (status, said["outcome"], said["statuses"][0]["code"]) == (OK, "admitted", "OVER_LIMIT")


def test_keeps_eight_statuses_and_skips_all_that_it_has_no_use_for():
    message = rls_pb2.RateLimitResponse(
        overall_code="OK", statuses=[fakerls.status(code="OK", limit_remaining=i, quota={"requests": 1, "id": "x"})
                                     for i in range(12)],
        response_headers_to_add=[{"key": "a", "value": "b" * 10_000}], request_headers_to_add=[{"key": "c"}],
        raw_body=b"\0" * 100_000, quota={"requests": 1, "valid_until": {"seconds": 1}})
    message.dynamic_metadata.update({"deep": {"list": [1, None, {"x": True}]}})
    code, said = check_fake(fakerls.saying(message.SerializeToString()))
    assert code == OK
    assert [s["remaining"] for s in said["statuses"]] == list(range(8))


def test_a_name_too_long_does_not_cost_the_verdict():
    code, said = check_fake(fakerls.saying(fakerls.reply(overall_code="OK", statuses=[
        fakerls.status(code="OK", current_limit=fakerls.limit(requests_per_unit=1, unit="DAY", name="n" * 5000))])))
    assert code == OK
    assert said["statuses"][0]["limit"] == {"requests": 1, "unit": "day", "name": None}


# ---- What is made of no answer ----

NO_VERDICT = [
    ("garbage", fakerls.saying(b"\xff\xff\xff"), "protocol", "makes no sense"),
    ("a cut message", fakerls.saying(b"\x08\x01\x12\x05\x08"), "protocol", "makes no sense"),
    ("an empty message", fakerls.saying(b""), "protocol", "no verdict"),
    ("code 0", fakerls.saying(b"\x08\x00\x12\x02\x08\x01"), "protocol", "no verdict"),
    ("code 3", fakerls.saying(b"\x08\x03"), "protocol", "no verdict (overall code 3)"),
    ("a caller's bug", fakerls.failing(grpc.StatusCode.INVALID_ARGUMENT, "descriptors[0]: no"), "invalid",
     "the server refuses the request: descriptors[0]: no"),
    ("too large", fakerls.failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "over 4 MiB"), "too_large", "over 4 MiB"),
    ("unavailable", fakerls.failing(grpc.StatusCode.UNAVAILABLE, "no rules yet"), "unavailable", "no rules yet"),
    ("a server's bug", fakerls.failing(grpc.StatusCode.INTERNAL, "oops"), "server", "INTERNAL: oops"),
    ("another's refusal", fakerls.failing(grpc.StatusCode.PERMISSION_DENIED, "who?"), "server", "PERMISSION_DENIED"),
    ("a terminal's trick", fakerls.failing(grpc.StatusCode.INTERNAL, "a\x1b[2Jb"), "server", "a [2Jb"),
    ("a long story", fakerls.failing(grpc.StatusCode.INTERNAL, "m" * 5000), "server", "mmm..."),
    ("another service", None, "protocol", "is it weir's port?"),
]


@pytest.mark.parametrize("answer, word, text", [row[1:] for row in NO_VERDICT], ids=[row[0] for row in NO_VERDICT])
def test_no_verdict_is_no_answer(answer, word, text):
    status, said = check_fake(answer)
    assert status == NO_ANSWER
    assert (said["outcome"], said["code"], said["statuses"]) == ("no_answer", "UNKNOWN", [])
    assert said["error"]["code"] == word
    assert text in said["error"]["text"]
    assert "\x1b" not in said["error"]["text"]


def test_a_slow_server_is_a_timeout():
    status, said = check_fake(fakerls.silent, timeout=("--timeout", "2s"))
    assert (status, said["error"]["code"]) == (NO_ANSWER, "timeout")
    assert "no answer from" in said["error"]["text"]


def test_a_peer_that_never_speaks_is_no_connection():
    with fakerls.listening() as target:
        status, said = check(target, timeout=("--timeout", "300ms"))
    assert (status, said["error"]["code"]) == (NO_ANSWER, "connect")
    assert "no connection to" in said["error"]["text"]


def test_a_web_server_is_told_apart():
    with fakerls.listening(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as target:
        status, said = check(target)
    assert status == NO_ANSWER
    assert said["error"]["code"] == "protocol"
    assert "speaks HTTP/1" in said["error"]["text"]


PEERS = [("hangs up", b"", "connect"), ("TLS", b"\x15\x03\x03\x00\x02\x02\x46", "connect"),
         ("SSH", b"SSH-2.0-OpenSSH_9.2\r\n", "protocol"), ("noise", b"\xff" * 64, "protocol")]


@pytest.mark.parametrize("greet, code", [row[1:] for row in PEERS], ids=[row[0] for row in PEERS])
def test_a_peer_that_is_no_grpc_server_is_told_apart(greet, code):
    with fakerls.listening(greet) as target:
        status, said = check(target)
    assert (status, said["error"]["code"]) == (NO_ANSWER, code), said
    assert "is it weir's port, and without TLS?" in said["error"]["text"]


@pytest.mark.parametrize("target, text", [("127.0.0.1:1", "connection refused at 127.0.0.1:1"),
                                          ("ipv4:127.0.0.1:1", "connection refused at ipv4:127.0.0.1:1"),
                                          ("dns:///127.0.0.1:1", "connection refused at dns:///127.0.0.1:1"),
                                          ("unix:/nonexistent/weir.sock", "no socket at unix:"),
                                          ("dns:///weir.invalid:8081", "cannot be resolved")])
def test_nobody_there(target, text):
    status, said = check(target)
    assert (status, said["error"]["code"]) == (NO_ANSWER, "connect")
    assert text in said["error"]["text"]


def fails_with(code, text):
    status, said = check_fake(fakerls.failing(code, text))
    assert status == NO_ANSWER
    return said["error"]["code"]


def test_a_server_in_trouble_is_told_apart_from_no_server_whatever_it_says():
    assert fails_with(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; Connection refused") == "unavailable"
    assert fails_with(grpc.StatusCode.UNAVAILABLE, "DNS resolution failed") == "unavailable"
    assert fails_with(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") == "timeout"


@pytest.mark.parametrize("spelling", ["{}", "ipv4:{}", "dns:///{}"])
def test_a_call_that_was_sent_is_never_a_lack_of_connection(spelling):
    with fakerls.serving(check=fakerls.failing(grpc.StatusCode.UNAVAILABLE, "no rules yet")) as target:
        status, said = check(spelling.format(target))
    assert (status, said["error"]["code"]) == (NO_ANSWER, "unavailable"), said


def test_the_same_by_a_unix_socket():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own can be longer than a socket's path
        target = f"unix:{folder}/rls.sock"
        with fakerls.serving(check=fakerls.failing(grpc.StatusCode.UNAVAILABLE, "no rules yet"), address=target):
            status, said = check(target)
    assert (status, said["error"]["code"]) == (NO_ANSWER, "unavailable"), said


def test_the_webs_proxy_is_not_asked():
    with fakerls.serving(check=fakerls.saying(fakerls.reply(overall_code="OK"))) as target:
        result = weirserver.run(weirserver.binary("weirctl"), "check", "d", "k=v", "--target", target, *LATE,
                                env={"http_proxy": "http://127.0.0.1:1", "grpc_proxy": "http://127.0.0.1:1"})
    assert result.returncode == OK, result.stderr


# ---- Health ----

def test_health_of_a_service():
    seen = []

    def answer(data, context):
        seen.append(health_pb2.HealthCheckRequest.FromString(data).service)
        return fakerls.health("NOT_SERVING")
    with fakerls.serving(health=answer) as target:
        result = weirserver.run(weirserver.binary("weirctl"), "health", "some.Service", "--json", "--target", target, *LATE)
    assert seen == ["some.Service"]
    assert json.loads(result.stdout) == {"service": "some.Service", "status": "NOT_SERVING", "error": None}
    assert result.returncode == OVER_LIMIT


def test_health_without_the_service_is_no_answer():
    with fakerls.serving(check=fakerls.saying(b"")) as target:
        result = weirserver.run(weirserver.binary("weirctl"), "health", "--target", target, *LATE)
    assert result.returncode == NO_ANSWER
    assert "does not know this call" in result.stderr


def test_watch_prints_each_change_and_ends_with_the_stream():
    states = ["NOT_SERVING", "SERVING", "SERVICE_UNKNOWN"]
    with fakerls.serving(watch=lambda data, context: map(fakerls.health, states)) as target:
        result = weirserver.run(weirserver.binary("weirctl"), "health", "--watch", "--target", target)
    assert result.stdout.split() == states
    assert result.returncode == NO_ANSWER
    assert "the server ended the watch" in result.stderr


def test_watch_hangs_up_on_garbage():
    def answer(data, context):
        yield fakerls.health("SERVING")
        yield b"\xff"
        fakerls.silent(data, context)
    with fakerls.serving(watch=answer) as target:
        result = weirserver.run(weirserver.binary("weirctl"), "health", "--watch", "--json", "--target", target)
    first, last = map(json.loads, result.stdout.splitlines())
    assert first["status"] == "SERVING"
    assert last["error"]["code"] == "protocol"


# ---- One client, many threads ----

class Rounds:
    """The program client_threads: one client for all rounds."""

    def __init__(self, target, deadline_ms=60_000, policy="open", more=()):
        self.process = subprocess.Popen(
            [weirserver.binary("client_threads"), target, str(deadline_ms), policy, *more], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=weirserver.clean_environment({}))

    def play(self, *words, **more):
        self.send(*words, **more)
        return self.receive()

    def send(self, threads, checks, value="v", domain="d", key="k"):
        self.process.stdin.write(f"{threads} {checks} {domain} {key} {value}\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        found = re.fullmatch(r"(.*) text=(.*)\n", line)
        assert found, line + self.process.stderr.read()
        said = dict(pair.split("=") for pair in found.group(1).split())
        return {"text": found.group(2), **{k: int(v) if v.isdigit() else v for k, v in said.items()}}

    def end(self):
        _, errors = self.process.communicate(timeout=weirserver.PATIENCE_SECONDS)
        weirserver.expect_no_report(self.process.returncode, errors)
        assert self.process.returncode == 0, errors


@contextlib.contextmanager
def rounds(*words, **more):
    player = Rounds(*words, **more)
    try:
        yield player
    finally:
        if player.process.poll() is None and not player.process.stdin.closed:
            player.end()


def test_one_client_serves_many_threads_exactly(launch_stores):
    server = launch_stores("domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: year, requests_per_unit: 1000}\n")
    with rounds(server.address) as player:
        said = player.play(16, 100)
        assert (said["admitted"], said["refused"], said["no_answer"]) == (1000, 600, 0), said
        said = player.play(64, 5, value="other")
        assert (said["admitted"], said["no_answer"]) == (320, 0), said


def test_the_first_call_connects_within_the_default_budget(launch):
    server = launch("domain: d\n")

    def is_in_time():
        with rounds(server.address, deadline_ms=0) as player:
            return player.play(1, 1)["admitted"] == 1

    # A busy machine may spoil many.
    weirserver.wait_until(is_in_time, "connected and answered within 20 ms", 3 * weirserver.PATIENCE_SECONDS)


def test_a_value_has_no_bound_but_the_servers(launch):
    server = launch("domain: d\n")
    with rounds(server.address) as player:
        assert player.play(2, 2, value="@3000000")["admitted"] == 4
        said = player.play(1, 1, value="@5000000")
        assert (said["no_answer"], said["code"]) == (1, "too_large"), said
        assert player.play(2, 2)["admitted"] == 4


@pytest.mark.parametrize("policy, passed", [("open", 20), ("closed", 0)])
def test_the_policy_decides_when_nobody_does(policy, passed):
    with rounds("127.0.0.1:1", policy=policy) as player:
        said = player.play(4, 5)
    assert (said["no_answer"], said["passed"], said["code"]) == (20, passed, "connect"), said


def test_the_deadline_holds_and_threads_do_not_wait_for_one_another():
    with fakerls.serving(check=fakerls.silent) as target, rounds(target, deadline_ms=2000) as player:
        said = player.play(8, 1)
    assert (said["no_answer"], said["code"]) == (8, "timeout"), said
    assert 1990 <= said["slowest_ms"] < 10000, said     # one after another it were 16 s


def test_a_client_outlives_its_server(tmp_path):
    """Served, refused at once while the server is away, served again soon after it is back."""
    answer = fakerls.saying(fakerls.reply(overall_code="OK"))
    with contextlib.ExitStack() as client:
        with fakerls.serving(check=answer) as target:
            player = client.enter_context(rounds(target))
            assert player.play(2, 2)["admitted"] == 4
        said = weirserver.wait_until(lambda: (r := player.play(2, 2))["no_answer"] == 4 and r, "the loss to be seen")
        assert said["code"] in ("connect", "unavailable"), said
        with fakerls.serving(check=answer, address=target):
            weirserver.wait_until(lambda: player.play(2, 2)["admitted"] == 4, "the client to connect again")


def test_a_graceful_restart_costs_an_idle_client_nothing(launch):
    address = f"127.0.0.1:{free_port()}"
    server = launch("domain: d\n", listen=address)
    with rounds(address) as player:
        assert player.play(1, 1)["admitted"] == 1
        for _ in range(3):
            server.stop()
            server = launch("domain: d\n", listen=address)
            assert player.play(4, 1)["admitted"] == 4


def test_a_killed_server_costs_an_idle_client_what_was_under_way(launch):
    address = f"127.0.0.1:{free_port()}"
    server = launch("domain: d\n", listen=address)
    with rounds(address) as player:
        assert player.play(1, 1)["admitted"] == 1
        server.process.kill()
        server.process.wait()
        server.process = None
        launch("domain: d\n", listen=address)
        said = player.play(1, 1)
        assert said["admitted"] == 1 or "broke off" in said["text"], said
        weirserver.wait_until(lambda: player.play(1, 1)["admitted"] == 1, "the client to connect again")


def test_a_client_that_is_never_used_ends():
    with rounds("127.0.0.1:1"):
        pass


# ---- Not waiting ----

def test_checks_in_flight_from_many_threads_are_counted_exactly(launch_stores):
    server = launch_stores("domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: year, requests_per_unit: 1000}\n")
    with rounds(server.address, more=["async"]) as player:
        said = player.play(16, 100)
        assert (said["admitted"], said["refused"], said["no_answer"]) == (1000, 600, 0), said
        said = player.play(2, 5, value="@100000")
        assert (said["admitted"], said["no_answer"]) == (10, 0), said


@pytest.mark.parametrize("policy, passed", [("open", 20), ("closed", 0)])
def test_the_policy_decides_for_checks_in_flight_too(policy, passed):
    with rounds("127.0.0.1:1", policy=policy, more=["async"]) as player:
        said = player.play(4, 5)
    assert (said["no_answer"], said["passed"], said["code"]) == (20, passed, "connect"), said


def test_checks_in_flight_share_the_deadline_and_not_a_queue():
    with fakerls.serving(check=fakerls.silent) as target, rounds(target, deadline_ms=2000, more=["async"]) as player:
        said = player.play(2, 4)
    assert (said["no_answer"], said["code"]) == (8, "timeout"), said
    assert 1990 <= said["slowest_ms"] < 10000, said     # one after another it were 16 s


def test_checks_in_flight_outlive_their_server():
    answer = fakerls.saying(fakerls.reply(overall_code="OK"))
    with contextlib.ExitStack() as client:
        with fakerls.serving(check=answer) as target:
            player = client.enter_context(rounds(target, more=["async"]))
            assert player.play(2, 20)["admitted"] == 40
        weirserver.wait_until(lambda: player.play(2, 2)["no_answer"] == 4, "the loss to be seen")
        with fakerls.serving(check=answer, address=target):
            weirserver.wait_until(lambda: player.play(2, 2)["admitted"] == 4, "the client to connect again")


def test_a_connection_lost_under_a_check_is_no_lack_of_one():
    """What was sent may have been counted, so it is never tried again without leave."""
    came = threading.Event()

    def answer(request, context):
        came.set()
        return fakerls.silent(request, context)
    with contextlib.ExitStack() as server:
        target = server.enter_context(fakerls.serving(check=answer))
        with rounds(target, more=["async"]) as player:
            player.send(1, 1)
            assert came.wait(weirserver.PATIENCE_SECONDS)
            server.close()
            said = player.receive()
    assert said["code"] not in ("connect", "ok"), said


# ---- Trying again ----

MODES = ["wait", "async"]


def failing_at_first(failures):
    """Answers OK after so many failures -> (answer, calls seen)."""
    seen = []

    def answer(request, context):
        seen.append(request)
        if len(seen) <= failures:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        return fakerls.reply(overall_code="OK")
    return answer, seen


def test_nothing_is_tried_again_unless_asked():
    answer, seen = failing_at_first(1)
    with fakerls.serving(check=answer) as target, rounds(target) as player:
        said = player.play(1, 1)
    assert (said["code"], len(seen)) == ("unavailable", 1), said


@pytest.mark.parametrize("mode", MODES)
def test_tries_so_often_and_no_more_what_the_server_had(mode):
    answer, seen = failing_at_first(2)
    with fakerls.serving(check=answer) as target, rounds(target, more=[mode, "3"]) as player:
        said = player.play(1, 1)
    assert (said["admitted"], len(seen)) == (1, 3), said
    answer, seen = failing_at_first(9)
    with fakerls.serving(check=answer) as target, rounds(target, more=[mode, "3"]) as player:
        said = player.play(1, 1)
    assert (said["code"], len(seen)) == ("unavailable", 3), said


@pytest.mark.parametrize("mode", MODES)
def test_never_tries_again_what_a_server_refuses_or_is_late_with(mode):
    for answer, code, deadline_ms in [(fakerls.failing(grpc.StatusCode.INVALID_ARGUMENT, "no"), "invalid", 60_000),
                                      (fakerls.saying(b"\xff"), "protocol", 60_000), (fakerls.silent, "timeout", 2000)]:
        seen = []

        def count(request, context, answer=answer, seen=seen):
            seen.append(request)
            return answer(request, context)
        with fakerls.serving(check=count) as target, rounds(target, deadline_ms=deadline_ms, more=[mode, "3"]) as player:
            said = player.play(1, 1)
        assert (said["code"], len(seen)) == (code, 1), said


@pytest.mark.parametrize("mode", MODES)
def test_waits_for_a_server_that_is_not_there_yet(mode):
    answer, seen = failing_at_first(0)
    target = f"127.0.0.1:{free_port()}"
    with contextlib.ExitStack() as server:
        with rounds(target, more=[mode, "2"]) as player:
            timer = threading.Timer(0.3, lambda: server.enter_context(fakerls.serving(check=answer, address=target)))
            timer.start()
            said = player.play(2, 2)
            timer.join()
    assert (said["admitted"], len(seen)) == (4, 4), said


# ---- The library as a user has it ----

def test_the_library_exports_its_interface_and_nothing_else():
    with open(os.path.join(INCLUDE, "weir", "client.h"), encoding="utf-8") as f:
        declared = set(re.findall(r"^WEIR_API[^;]*?\b(weir_\w+)\(", f.read(), re.M))
    names = weirserver.run("nm", "-D", "--defined-only", os.path.join(LIB, "libweir.so")).stdout.split()[2::3]
    assert len(declared) >= 10
    assert {n for n in names if not n.startswith("__")} == declared


def build(source, program, *flags):
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags, "-o", program, source, "-I", INCLUDE,
             "-L", LIB, f"-Wl,-rpath,{LIB}", "-lweir", "-lpthread"]
    if "libasan" in weirserver.run("ldd", os.path.join(LIB, "libweir.so")).stdout:
        words.insert(1, "-fsanitize=address,undefined")
    built = weirserver.run(*map(str, words))
    assert built.returncode == 0, built.stderr


def documented_programs():
    with open(os.path.join(weirserver.ROOT, "docs", "client.md"), encoding="utf-8") as f:
        return re.findall(r"^```c\n(.*?int main\(.*?)^```", f.read(), re.M | re.S)


def build_documented(folder, name, number):
    """A program of docs/client.md, built as it says there -> the program."""
    source, program = folder / f"{name}.c", folder / name
    source.write_text(documented_programs()[number], encoding="utf-8")
    build(source, program, "-D_POSIX_C_SOURCE=200809L")
    return str(program)


def test_the_asynchronous_program_of_the_documentation(launch, tmp_path):
    program = build_documented(tmp_path, "crowd", 1)
    server = launch("domain: shop\ndescriptors:\n  - key: user\n    rate_limit: {unit: hour, requests_per_unit: 70}\n")
    result = weirserver.run(program, server.address)
    assert (result.returncode, result.stdout) == (0, "admitted 70, refused 30, no answer 0\n"), result.stderr


def test_the_guard_of_the_documentation(launch, tmp_path):
    guard = build_documented(tmp_path, "guard", 0)
    server = launch("domain: shop\ndescriptors:\n  - key: user\n    rate_limit: {unit: hour, requests_per_unit: 2}\n")

    def ask(target, text):
        result = subprocess.run([guard, target, "60000"], input=text, capture_output=True, text=True, timeout=weirserver.PATIENCE_SECONDS, check=False,
                                env=weirserver.clean_environment({}))
        weirserver.expect_no_report(result.returncode, result.stderr)
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines(), result.stderr
    lines, _ = ask(server.address, "alice\nalice\nalice\nbob\n")
    assert [line.split()[0] for line in lines] == ["200", "200", "429", "200"], lines
    assert re.search(r"retry-after: \d+", lines[2]), lines
    lines, errors = ask("127.0.0.1:1", "alice\n")
    assert [line.split()[0] for line in lines] == ["200"], lines
    assert "connection refused at 127.0.0.1:1" in errors


FORKING = """\
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weir/client.h>
/* Each process makes its own client, after the fork. */
static int ask(const char *target) {
    const struct weir_options options = {.target = target, .deadline_ms = 60000};
    struct weir_client *client; struct weir_request request; struct weir_result result;
    if (weir_client_new(&options, &client, NULL) != WEIR_OK) return 2;
    weir_request_init(&request, weir_str("d")); weir_request_descriptor(&request);
    weir_request_entry(&request, weir_str("k"), weir_str("v"));
    const int status = weir_check(client, &request, &result) == WEIR_OK ? 0 : 1;
    weir_client_destroy(client); return status; }
int main(int argc, char **argv) {
    pid_t workers[4]; int status, sum = argc - 2;
    for (int i = 0; i < 4; i++) if ((workers[i] = fork()) == 0) _exit(ask(argv[1]));
    sum += ask(argv[1]);
    for (int i = 0; i < 4; i++) { waitpid(workers[i], &status, 0); sum += status; }
    return sum; }
"""


def test_processes_that_fork_first_each_have_their_client(launch, tmp_path):
    source, program = tmp_path / "fork.c", tmp_path / "fork"
    source.write_text(FORKING, encoding="utf-8")
    build(source, program, "-D_POSIX_C_SOURCE=200809L")
    server = launch("domain: d\n")
    result = weirserver.run(str(program), server.address)
    assert result.returncode == 0, result.stderr


def test_the_header_works_in_cpp(tmp_path):
    source = tmp_path / "user.cpp"
    source.write_text('#include <weir/client.h>\nint main() { weir_request r; weir_request_init(&r, weir_str("d")); '
                      "return r.err; }\n", encoding="utf-8")
    built = weirserver.run("clang-14", "-x", "c++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", INCLUDE, str(source))
    assert built.returncode == 0, built.stderr
