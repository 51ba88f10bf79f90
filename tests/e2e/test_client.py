# SPDX-License-Identifier: Apache-2.0
"""The client library: what it sends, what it makes of any answer and of none, one client in many threads."""
import contextlib
import json
import os
import re
import subprocess

import fakerls
import grpc
import pytest
import weirserver
from envoy.service.ratelimit.v3 import rls_pb2
from grpc_health.v1 import health_pb2

LIB = os.path.join(os.path.dirname(weirserver.BIN), "lib")
INCLUDE = os.path.join(weirserver.ROOT, "client", "include")
OK, OVER_LIMIT, NO_ANSWER = 0, 1, 2
LATE = ["--timeout", "10s"]


def check(target, *words, timeout=("--timeout", "10s")):
    """weirctl check -> (exit status, what it said in JSON)."""
    result = weirserver.run(weirserver.binary("weirctl"), "check", *(words or ("d", "k=v")), "--json",
                            "--target", target, *timeout)
    assert not weirserver.SANITIZER_REPORT.search(result.stderr), result.stderr
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
    status, said = check_fake(fakerls.silent, timeout=("--timeout", "300ms"))
    assert (status, said["error"]["code"]) == (NO_ANSWER, "timeout")
    assert "no answer from" in said["error"]["text"]


def test_a_peer_that_never_speaks_is_no_connection():
    with fakerls.listening() as target:
        status, said = check(target, timeout=("--timeout", "300ms"))
    assert (status, said["error"]["code"]) == (NO_ANSWER, "timeout")
    assert "no connection to" in said["error"]["text"]


def test_a_web_server_is_told_apart():
    with fakerls.listening(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as target:
        status, said = check(target)
    assert status == NO_ANSWER
    assert said["error"]["code"] == "protocol"
    assert "speaks HTTP/1" in said["error"]["text"]


def test_a_peer_that_hangs_up_is_unavailable():
    with fakerls.listening(b"") as target:
        status, said = check(target)
    assert (status, said["error"]["code"]) == (NO_ANSWER, "unavailable")


@pytest.mark.parametrize("target, text", [("127.0.0.1:1", "connection refused at 127.0.0.1:1"),
                                          ("unix:/nonexistent/weir.sock", "no socket at unix:"),
                                          ("dns:///weir.invalid:8081", "cannot be resolved")])
def test_nobody_there(target, text):
    status, said = check(target)
    assert (status, said["error"]["code"]) == (NO_ANSWER, "unavailable")
    assert text in said["error"]["text"]


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

    def __init__(self, target, deadline_ms=10_000, policy="open"):
        self.process = subprocess.Popen(
            [weirserver.binary("client_threads"), target, str(deadline_ms), policy], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=weirserver.clean_environment({}))

    def play(self, threads, checks, value="v", domain="d", key="k"):
        self.process.stdin.write(f"{threads} {checks} {domain} {key} {value}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        found = re.fullmatch(r"(.*) text=(.*)\n", line)
        assert found, line + self.process.stderr.read()
        said = dict(pair.split("=") for pair in found.group(1).split())
        return {"text": found.group(2), **{k: int(v) if v.isdigit() else v for k, v in said.items()}}

    def end(self):
        _, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, errors
        assert not weirserver.SANITIZER_REPORT.search(errors), errors


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
    took = []
    for _ in range(10):
        with rounds(server.address, deadline_ms=0) as player:
            said = player.play(1, 1)
            took.append(said["slowest_ms"])
            if said["admitted"] == 1:
                return
    pytest.fail(f"never connected and answered within 20 ms, took {took}")


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
    assert (said["no_answer"], said["passed"], said["code"]) == (20, passed, "unavailable"), said


def test_the_deadline_holds_and_threads_do_not_wait_for_one_another():
    with fakerls.serving(check=fakerls.silent) as target, rounds(target, deadline_ms=200) as player:
        said = player.play(8, 1)
    assert (said["no_answer"], said["code"]) == (8, "timeout"), said
    assert 190 <= said["slowest_ms"] < 1500, said


def test_a_client_outlives_its_server(tmp_path):
    """Served, refused at once while the server is away, served again soon after it is back."""
    answer = fakerls.saying(fakerls.reply(overall_code="OK"))
    with contextlib.ExitStack() as client:
        with fakerls.serving(check=answer) as target:
            player = client.enter_context(rounds(target))
            assert player.play(2, 2)["admitted"] == 4
        said = weirserver.wait_until(lambda: (r := player.play(2, 2))["no_answer"] == 4 and r, "the loss to be seen")
        assert said["code"] == "unavailable", said
        with fakerls.serving(check=answer, address=target):
            weirserver.wait_until(lambda: player.play(2, 2)["admitted"] == 4, "the client to connect again", 4)


def test_a_graceful_restart_costs_an_idle_client_nothing(launch):
    server = launch("domain: d\n")
    with rounds(server.address) as player:
        assert player.play(1, 1)["admitted"] == 1
        for _ in range(3):
            address = server.address
            server.stop()
            server = launch("domain: d\n", listen=address)
            assert player.play(4, 1)["admitted"] == 4


def test_a_killed_server_costs_an_idle_client_what_was_under_way(launch):
    server = launch("domain: d\n")
    with rounds(server.address) as player:
        assert player.play(1, 1)["admitted"] == 1
        address = server.address
        server.process.kill()
        server.process.wait()
        server.process = None
        launch("domain: d\n", listen=address)
        said = player.play(1, 1)
        assert said["admitted"] == 1 or "broke off" in said["text"], said
        weirserver.wait_until(lambda: player.play(1, 1)["admitted"] == 1, "the client to connect again", 4)


def test_a_client_that_is_never_used_ends():
    with rounds("127.0.0.1:1"):
        pass


# ---- The library as a user has it ----

def test_the_library_exports_its_interface_and_nothing_else():
    with open(os.path.join(INCLUDE, "weir", "client.h"), encoding="utf-8") as f:
        declared = set(re.findall(r"^WEIR_API[^;]*?\b(weir_\w+)\(", f.read(), re.M))
    names = weirserver.run("nm", "-D", "--defined-only", os.path.join(LIB, "libweir.so")).stdout.split()[2::3]
    assert len(declared) >= 10
    assert {n for n in names if not n.startswith("__")} == declared


def build_guard(folder):
    """The guard of docs/client.md, built as it says there -> the program."""
    with open(os.path.join(weirserver.ROOT, "docs", "client.md"), encoding="utf-8") as f:
        programs = re.findall(r"^```c\n(.*?int main\(.*?)^```", f.read(), re.M | re.S)
    assert len(programs) == 1
    source, program = folder / "guard.c", folder / "guard"
    source.write_text(programs[0], encoding="utf-8")
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program, source, "-I", INCLUDE,
             "-L", LIB, f"-Wl,-rpath,{LIB}", "-lweir"]
    if "libasan" in weirserver.run("ldd", os.path.join(LIB, "libweir.so")).stdout:
        words.insert(1, "-fsanitize=address,undefined")
    built = weirserver.run(*map(str, words))
    assert built.returncode == 0, built.stderr
    return str(program)


def test_the_guard_of_the_documentation(launch, tmp_path):
    guard = build_guard(tmp_path)
    server = launch("domain: shop\ndescriptors:\n  - key: user\n    rate_limit: {unit: hour, requests_per_unit: 2}\n")

    def ask(target, text):
        result = subprocess.run([guard, target, "10000"], input=text, capture_output=True, text=True, timeout=30, check=False,
                                env=weirserver.clean_environment({}))
        assert result.returncode == 0, result.stderr
        assert not weirserver.SANITIZER_REPORT.search(result.stderr), result.stderr
        return result.stdout.splitlines(), result.stderr
    lines, _ = ask(server.address, "alice\nalice\nalice\nbob\n")
    assert [line.split()[0] for line in lines] == ["200", "200", "429", "200"], lines
    assert re.search(r"retry-after: \d+", lines[2]), lines
    lines, errors = ask("127.0.0.1:1", "alice\n")
    assert [line.split()[0] for line in lines] == ["200"], lines
    assert "connection refused at 127.0.0.1:1" in errors


def test_the_header_works_in_cpp(tmp_path):
    source = tmp_path / "user.cpp"
    source.write_text('#include <weir/client.h>\nint main() { weir_request r; weir_request_init(&r, weir_str("d")); '
                      "return r.err; }\n", encoding="utf-8")
    built = weirserver.run("clang-14", "-x", "c++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", INCLUDE, str(source))
    assert built.returncode == 0, built.stderr
