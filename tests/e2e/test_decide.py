# SPDX-License-Identifier: Apache-2.0
"""Decisions that have to be the same with every store."""
import pytest
import weirserver
from weirserver import same

RULES = """\
domain: d
descriptors:
  - {key: k, rate_limit: {unit: hour, requests_per_unit: 3, name: three}}
  - {key: big, rate_limit: {unit: hour, requests_per_unit: 500}}
  - {key: dark, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: free, rate_limit: {unlimited: true}}
  - {key: second, rate_limit: {unit: second, requests_per_unit: 1}}
"""


@pytest.fixture
def server(launch_stores):
    return launch_stores(RULES)


@pytest.fixture
def call(server):
    return server.caller().call


def test_counts_down_then_refuses(call):
    for left in (2, 1, 0):
        same(f"OK: OK {left} of 3/HOUR?", call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 3/HOUR?", call("d", [["k", "a"]]))
    same("OK: OK 2 of 3/HOUR?", call("d", [["k", "b"]]))


def test_one_status_a_descriptor_in_order(call):
    same("OK: OK 2 of 3/HOUR?, bare, OK 499 of 500/HOUR", call("d", [["k", "a"]], [["none", ""]], [["big", "x"]]))


def test_same_descriptor_twice_is_charged_twice(call):
    same("OK: OK 2 of 3/HOUR?, OK 1 of 3/HOUR?", call("d", [["k", "a"]], [["k", "a"]]))


def test_peek_overshoot_and_refund(call):
    key = [["k", "a"]]
    same("OVER: OVER 0 of 3/HOUR?", call("d", {"entries": key, "hits": 10}))
    same("OVER: OVER 0 of 3/HOUR?", call("d", {"entries": key, "hits": 0}))
    same("OK: OK 0 of 3/HOUR?", call("d", {"entries": key, "refund": 7}))
    same("OK: OK 0 of 3/HOUR?", call("d", {"entries": key, "hits": 0}))
    same("OK: OK 3 of 3/HOUR?", call("d", {"entries": key, "refund": 99}))


def test_shadow_counts_and_lets_pass(call):
    same("OK: OK 0 of 1/HOUR", call("d", [["dark", "a"]]))
    same("OK: OK 0 of 1/HOUR", call("d", [["dark", "a"]]))


def test_unlimited(call):
    assert call("d", [["free", "a"]]) == {"overall": "OK", "statuses": [{"code": "OK", "remaining": 2**32 - 1}]}


def test_unknown_domain(call):
    same("OK: bare", call("elsewhere", [["k", "a"]]))


def test_override_keeps_the_count_of_its_unit(call):
    same("OK: OK 2 of 3/HOUR?", call("d", [["k", "a"]]))
    same("OK: OK 8 of 10/HOUR?", call("d", {"entries": [["k", "a"]], "limit": [10, "HOUR"]}))
    same("OK: OK 9 of 10/DAY", call("d", {"entries": [["k", "a"]], "limit": [10, "DAY"]}))


def test_an_override_a_week(call):
    same("OK: OK 9 of 10/WEEK", call("d", {"entries": [["k", "a"]], "limit": [10, 7]}))
    same("OK: OK 8 of 10/WEEK", call("d", {"entries": [["k", "a"]], "limit": [10, 7]}))


@pytest.mark.parametrize("unit", [0, 8, 99])
def test_bad_override_charges_nothing(call, unit):
    bad = {"entries": [["k", "b"]], "limit": [5, unit]}
    assert call("d", [["k", "a"]], bad) == {"error": "INVALID_ARGUMENT"}
    same("OK: OK 3 of 3/HOUR?", call("d", {"entries": [["k", "a"]], "hits": 0}))
    same("OK: bare", call("elsewhere", bad))


def test_no_entries_is_bare(call):
    same("OK: bare", call("d", []))


def test_exact_under_parallel_calls(server):
    callers = [server.caller() for _ in range(4)]
    futures = [callers[i % 4].future("d", [["big", "one"]], timeout=60) for i in range(2000)]
    replies = [f.result() for f in futures]
    codes = [weirserver.oraclelib.rls_pb2.RateLimitResponse.FromString(r).overall_code for r in replies]
    assert (codes.count(1), codes.count(2)) == (500, 1500)


def test_many_streams_on_one_connection(server):
    caller = server.caller()
    futures = [caller.future("d", [["k", f"v{i}"]]) for i in range(1500)]
    assert all(f.result() for f in futures)


def test_cancelled_calls_leave_nothing_behind(server):
    caller = server.caller()
    for _ in range(10):
        futures = [caller.future("d", [["big", "two"]]) for _ in range(100)]
        for f in futures:
            f.cancel()
    same("OK: OK 2 of 3/HOUR?", caller.call("d", [["k", "after"]]))


def test_stop_answers_what_it_took(server):
    caller = server.caller()
    same("OK: OK 499 of 500/HOUR", caller.call("d", [["big", "x"]]))
    futures = [caller.future("d", [["big", "x"]]) for _ in range(100)]
    futures[0].result()
    server.signal_stop()
    outcomes = {f.exception() if f.exception() is None else f.exception().code().name for f in futures}
    assert outcomes <= {None, "UNAVAILABLE", "CANCELLED"}
    assert server.process.wait(weirserver.PATIENCE_SECONDS) == 0
