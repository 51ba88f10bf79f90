# SPDX-License-Identifier: Apache-2.0
"""weirctl bench: that its numbers add up and mean what they say. How fast it is, tests/bench measures."""
import itertools
import json
import os
import pty
import subprocess
import threading

import fakerls
import grpc
import pytest
import weirserver

RULES = """\
domain: d
descriptors:
  - {key: k, rate_limit: {unit: year, requests_per_unit: 100}}
  - {key: free, rate_limit: {unlimited: true}}
"""
OK, NO_ANSWER, USAGE = 0, 2, 64
KEYS = ["loop", "rate", "connections", "in_flight", "keys", "sent", "unsent", "admitted", "refused", "failed",
        "elapsed_us", "per_second", "latency_us", "at_least", "error"]
LATENCIES = ["min", "mean", "p50", "p90", "p99", "p99.9", "max"]
ADMIT = fakerls.reply(overall_code="OK")


def bench(target, *words, status=OK, what=("d", "free=x")):
    """-> what it said in JSON, which adds up."""
    result = weirserver.run(weirserver.binary("weirctl"), "bench", *what, "--json", "--target", target, *words)
    assert result.returncode == status, result.stderr
    said = json.loads(result.stdout)
    assert list(said) == KEYS
    assert said["admitted"] + said["refused"] + said["failed"] == said["sent"]
    if said["latency_us"] is not None:
        assert list(said["latency_us"]) == LATENCIES
        ordered = [said["latency_us"][k] for k in LATENCIES if k != "mean"]
        assert ordered == sorted(ordered), said
        assert ordered[0] <= said["latency_us"]["mean"] <= ordered[-1]
    assert bool(said["at_least"]) == (said["failed"] + said["unsent"] > 0), said
    return said


def test_every_check_is_counted_as_the_server_counts_it(launch_stores):
    server = launch_stores(RULES)
    said = bench(server.address, "--requests", "250", "--connections", "3", "--in-flight", "7", what=("d", "k=a"))
    assert (said["sent"], said["admitted"], said["refused"], said["failed"]) == (250, 100, 150, 0)
    assert (said["loop"], said["rate"], said["connections"], said["in_flight"]) == ("closed", None, 3, 7)
    assert said["error"] is None


def test_keys_take_turns(launch):
    server = launch(RULES)
    said = bench(server.address, "--requests", "1100", "--keys", "10", what=("d", "k=a"))
    assert (said["admitted"], said["refused"], said["keys"]) == (1000, 100, 10)
    said = bench(server.address, "--requests", "1", what=("d", "k=a-9"))
    assert said["refused"] == 1, "the last key is not the ninth of ten"


def test_sends_the_request_that_a_check_sends():
    seen = []

    def keep(request, context):
        seen.append(request)
        return ADMIT
    words = ["d", "k=v,l=w", "m=", "--hits", "7", "--limit", "10/minute"]
    with fakerls.serving(check=keep) as target:
        weirserver.run(weirserver.binary("weirctl"), "check", *words, "--target", target, "--timeout", "60s")
        bench(target, "--requests", "1", what=words)
    assert seen[0] == seen[1]
    assert len(seen) == 2


def test_a_request_larger_than_a_frame(launch):
    server = launch(RULES)
    said = bench(server.address, "--requests", "20", what=("d", "free=" + "x" * 100_000))
    assert said["admitted"] == 20


def test_a_duration_ends_it(launch):
    server = launch(RULES)
    said = bench(server.address, "--duration", "300ms")
    assert 300_000 <= said["elapsed_us"] < 9_000_000, "ten seconds unless told otherwise"
    assert said["sent"] > 0
    assert said["per_second"] == pytest.approx(said["sent"] * 1e6 / said["elapsed_us"], abs=1)


def test_an_open_loop_asks_as_often_as_told(launch):
    server = launch(RULES)
    said = bench(server.address, "--rate", "500", "--duration", "1s", "--connections", "2")
    assert (said["loop"], said["rate"]) == ("open", 500)
    assert said["sent"] + said["unsent"] == 500


def test_a_stall_shows_in_all_that_were_due_during_it():
    """100 checks due over a second, the first of which blocks for a second the only slot there is."""
    gate, calls = threading.Event(), []

    def stall_once(request, context):
        calls.append(request)
        if len(calls) == 1:
            gate.wait(1)
        return ADMIT
    with fakerls.serving(check=stall_once) as target:
        said = bench(target, "--rate", "100", "--requests", "100", "--in-flight", "1", "--timeout", "60s")
    assert said["sent"] == 100
    assert said["latency_us"]["max"] >= 1_000_000
    # Were latency counted from when each was sent, all but one would have been fast.
    assert said["latency_us"]["p50"] >= 200_000, said


def test_an_answer_that_does_not_come_in_time_is_a_lower_bound():
    """As above, but for longer, and each has only a second from when it was due: what comes later, or not at all, has no
    answer."""
    gate, calls = threading.Event(), []

    def stall_once(request, context):
        calls.append(request)
        if len(calls) == 1:
            gate.wait(2)
        return ADMIT
    with fakerls.serving(check=stall_once) as target:
        said = bench(target, "--rate", "50", "--requests", "200", "--in-flight", "1", "--timeout", "1s", status=NO_ANSWER)
    assert said["sent"] + said["unsent"] == 200
    assert said["failed"] >= 1
    assert said["latency_us"]["max"] >= 1_000_000
    assert "max" in said["at_least"] and "min" not in said["at_least"]


@pytest.mark.parametrize("words", [["--rate", "200"], []])
def test_a_server_that_stands_still_shows_in_the_percentiles(words):
    """From the 51st check on no answer comes at all. Of an open loop that is most of what was due, of a closed one what
    the timeout lets it ask."""
    calls = itertools.count()

    def stand_still(request, context):
        return ADMIT if next(calls) < 50 else fakerls.silent(request, context)
    with fakerls.serving(check=stand_still) as target:
        said = bench(target, *words, "--duration", "3s", "--timeout", "1s", status=NO_ANSWER)
    assert 0 < said["admitted"] <= 50
    assert said["failed"] >= 10, "all that was in flight"
    assert "max" in said["at_least"] and "min" not in said["at_least"]
    assert said["latency_us"]["max"] >= 1_000_000
    assert said["error"]["code"] == "timeout"
    if words:
        assert said["sent"] + said["unsent"] == 600
        assert {"p50", "p90", "p99", "p99.9"} <= set(said["at_least"]), said
        assert said["latency_us"]["p50"] >= 1_000_000, said


def test_what_was_due_and_never_sent_counts():
    with fakerls.serving(check=fakerls.silent) as target:
        said = bench(target, "--rate", "1000", "--duration", "200ms", "--timeout", "100ms", status=NO_ANSWER)
    assert said["sent"] + said["unsent"] == 200
    assert (said["failed"], said["admitted"]) == (said["sent"], 0)
    assert said["at_least"] == LATENCIES
    assert said["latency_us"]["min"] >= 100_000
    assert said["error"]["code"] == "timeout"


def test_a_failure_is_no_answer_and_told():
    with fakerls.serving(check=fakerls.failing(grpc.StatusCode.UNAVAILABLE, "no rules yet")) as target:
        said = bench(target, "--requests", "20", status=NO_ANSWER)
    assert (said["failed"], said["at_least"]) == (20, LATENCIES)
    assert "no rules yet" in said["error"]["text"]
    with fakerls.serving(check=fakerls.saying(b"\x08\x00")) as target:
        said = bench(target, "--requests", "20", status=NO_ANSWER)
    assert "no verdict" in said["error"]["text"]


def test_a_peer_that_hangs_up_fails_what_it_carried():
    with fakerls.listening(b"") as target:
        said = bench(target, "--requests", "20", "--duration", "2s", status=NO_ANSWER)
    assert said["failed"] > 0
    assert "broke off" in said["error"]["text"]


def test_a_connection_that_is_sent_away_is_made_again_and_loses_nothing():
    peers = set()

    def answer(request, context):
        peers.add(context.peer())
        return ADMIT
    with fakerls.serving(check=answer, options=[("grpc.max_connection_age_ms", 200)]) as target:
        said = bench(target, "--rate", "200", "--duration", "1s", "--timeout", "60s")
    assert said["admitted"] == said["sent"] >= 200
    assert len(peers) >= 3, peers


def test_nobody_there():
    result = weirserver.run(weirserver.binary("weirctl"), "bench", "d", "k=v", "--json", "--target", "127.0.0.1:1")
    assert (result.returncode, result.stdout) == (NO_ANSWER, "")
    assert "no connection to 127.0.0.1:1: Connection refused" in result.stderr


@pytest.mark.parametrize("words", [["--rate", "0"], ["--connections", "x"], ["--duration", "1"], ["--keys", "-1"]])
def test_wrong_command_line(words):
    result = weirserver.run(weirserver.binary("weirctl"), "bench", "d", "k=v", *words)
    assert (result.returncode, result.stdout) == (USAGE, "")


def test_what_a_person_reads(launch):
    server = launch(RULES)
    result = weirserver.run(weirserver.binary("weirctl"), "bench", "d", "free=x", "--requests", "100", "--target", server.address)
    assert (result.returncode, result.stderr) == (OK, ""), "the bar is for terminals alone"
    assert result.stdout.startswith("Closed loop, 1 connections with up to 10 in flight each\n\n100 checks in ")
    for word in ["admitted 100", "refused  0", "failed   0", *LATENCIES]:
        assert word in result.stdout


def test_a_terminal_sees_the_progress(launch):
    server = launch(RULES)
    ours, theirs = pty.openpty()
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            process = subprocess.Popen(
                [weirserver.binary("weirctl"), "bench", "d", "free=x", "--duration", "1s", "--target", server.address],
                stdout=nowhere, stderr=theirs, env=weirserver.clean_environment({}))
        assert process.wait(weirserver.PATIENCE_SECONDS) == OK
        os.set_blocking(ours, False)
        seen = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "%" in seen and "answers, 0 failed" in seen
    assert seen.endswith("\r\x1b[K"), "the bar stays"
