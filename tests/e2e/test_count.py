# SPDX-License-Identifier: Apache-2.0
"""What a refused request costs (`count`), and who decides without a store (`failure_mode`)."""
import grpc
import oraclelib
import pytest
import rawh2
from weirserver import METHOD, PATIENCE_SECONDS, same, wait_until

REFERENCE = """domain: d
descriptors:
  - {key: big, rate_limit: {unit: hour, requests_per_unit: 10}}
  - {key: small, rate_limit: {unit: hour, requests_per_unit: 2}}
  - {key: tokens, rate_limit: {unit: hour, requests_per_unit: 10, count: all}}
  - {key: trial, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
"""
TOGETHER = "count: all_or_nothing\n" + REFERENCE
BIG, SMALL, TOKENS, TRIAL = ([[key, "v"]] for key in ("big", "small", "tokens", "trial"))


def left(caller, *descriptors):
    """What remains of each, by a look at one after the other."""
    return [caller.peek("d", *pairs)["statuses"][0]["remaining"] for pairs in descriptors]


def hits(pairs, n):
    return {"entries": pairs, "hits": n}


def test_without_a_word_every_hit_is_counted(launch_stores):
    caller = launch_stores(REFERENCE).caller()
    for _ in range(5):
        caller.call("d", BIG, SMALL)
    assert left(caller, BIG, SMALL) == [5, 0]
    assert caller.peek("d", *SMALL)["overall"] == "OVER_LIMIT", "five of two are counted"


def test_admitted_counts_what_fits(launch_stores):
    caller = launch_stores("count: admitted\n" + REFERENCE).caller()
    for _ in range(5):
        caller.call("d", BIG, SMALL)
    assert left(caller, BIG, SMALL) == [5, 0]
    assert caller.peek("d", *SMALL)["overall"] == "OK", "two of two are counted"
    assert caller.call("d", hits(BIG, 6))["overall"] == "OVER_LIMIT"
    assert left(caller, BIG) == [5], "whole or not at all"


@pytest.mark.parametrize("rules", [
    TOGETHER,
    REFERENCE.replace("{unit: hour, requests_per_unit: 10}}", "{unit: hour, requests_per_unit: 10, count: all_or_nothing}}"),
], ids=["the domain's", "a rule's"])
def test_all_or_nothing_takes_from_nobody_who_is_with_one_that_is_over(launch_stores, rules):
    caller = launch_stores(rules).caller()
    for _ in range(5):
        caller.call("d", BIG, SMALL)
    assert left(caller, BIG) == [8]


def test_together_but_for_what_is_spent(launch_stores):
    caller = launch_stores(TOGETHER).caller()
    assert caller.call("d", BIG, hits(TOKENS, 11))["overall"] == "OVER_LIMIT"
    assert left(caller, BIG, TOKENS) == [10, 0], "spent is booked, fitting or not, and refuses the others"
    assert caller.call("d", hits(BIG, 3), hits(SMALL, 3))["overall"] == "OVER_LIMIT"
    assert left(caller, BIG, SMALL) == [10, 2]
    assert caller.call("d", SMALL, TRIAL)["overall"] == caller.call("d", SMALL, TRIAL)["overall"] == "OK", "a trial blocks nobody"
    assert left(caller, SMALL) == [0]


def test_an_override_is_charged_as_the_rule_on_its_path(launch_stores):
    caller = launch_stores(TOGETHER).caller()
    override = {"limit": [3, "DAY"]}
    assert caller.call("d", BIG, {"entries": SMALL, "hits": 4, **override})["overall"] == "OVER_LIMIT"
    assert left(caller, BIG) == [10]
    same("OK: OK 3 of 3/DAY", caller.call("d", {"entries": SMALL, "hits": 0, **override}))
    caller.call("d", {"entries": TOKENS, "hits": 4, **override})
    same("OVER: OVER 0 of 3/DAY", caller.call("d", {"entries": TOKENS, "hits": 0, **override}))


def test_stop_charges_only_those_that_would_go_over(launch_stores):
    caller = launch_stores(REFERENCE, env={"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT": "true"}).caller()
    for _ in range(5):
        caller.call("d", BIG, SMALL)
    assert left(caller, BIG, SMALL) == [8, 0]


N_LATE = 6


@pytest.mark.parametrize("count, booked", [("all", 1 + N_LATE), ("admitted", 1)])
def test_a_late_call_is_booked_where_all_counts(launch, count, booked):
    """One slot: the first call holds it until the deadline of the others is long over."""
    rules = f"domain: d\ndescriptors:\n  - {{key: k, rate_limit: {{unit: hour, requests_per_unit: 100, count: {count}}}}}\n"
    server = launch(rules, "--slots", "1", "--workers", "1", program="weir_slow_store",
                    env={"SLOW_DELAY_US": 400000, "SLOW_TIMEOUT_US": 5000000})
    with rawh2.Connection(server.port) as raw:
        streams = range(3, 3 + 2 * N_LATE, 2)
        raw.send(*frames(1, "60S"), *(part for stream in streams for part in frames(stream, "50m")))
        assert raw.wait_end(streams[-1]) is not None
        caller = server.caller()
        wait_until(lambda: left(caller, [["k", "v"]]) == [100 - booked], f"{booked} hits")


def frames(stream, timeout):
    data = oraclelib.build_request({"domain": "d", "desc": [[["k", "v"]]]}).SerializeToString()
    return (rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, stream, rawh2.headers(METHOD, grpc_timeout=timeout)),
            rawh2.frame(rawh2.DATA, rawh2.END_STREAM, stream, rawh2.message(data)))


MODES = """domain: d
descriptors:
  - {key: none, rate_limit: {unit: hour, requests_per_unit: 10}}
  - {key: error, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: error}}
  - {key: allow, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: allow}}
  - {key: deny, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: deny}}
  - {key: local, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: local}}
"""


@pytest.mark.parametrize("server, keys, overall, said", [
    ("error", ["none"], None, None),
    ("allow", ["none"], "OK", "allow"),
    ("allow", ["error"], None, None),
    ("deny", ["allow"], "OK", "allow"),
    ("allow", ["deny"], "OVER_LIMIT", "deny"),
    ("allow", ["allow", "deny"], "OVER_LIMIT", "deny"),
    ("allow", ["allow", "error"], None, None),
    ("allow", ["error", "deny"], "OVER_LIMIT", "deny"),
    ("allow", ["local"], None, None),
    ("allow", ["nowhere"], "OK", None),
], ids=str)
@pytest.mark.parametrize("override", [False, True], ids=["rule", "override"])
def test_a_rule_has_a_failure_mode_of_its_own(launch, server, keys, overall, said, override):
    if override and keys == ["nowhere"]:
        overall, said = "OK", "allow"       # the limit is the request's, the mode the server's
    weir = launch(MODES, "--failure-mode", server, "--degraded-header", "x-degraded", program="weir_slow_store",
                  env={"SLOW_NEVER_EVERY": 1, "SLOW_TIMEOUT_US": 20000})
    more = {"limit": [5, "DAY"]} if override else {}
    request = oraclelib.build_request({"domain": "d", "desc": [{"entries": [[key, "v"]], **more} for key in keys]})
    try:
        reply = oraclelib.rls_pb2.RateLimitResponse.FromString(weir.caller().send(request.SerializeToString(), timeout=PATIENCE_SECONDS))
    except grpc.RpcError as e:
        assert (e.code().name, overall) == ("UNAVAILABLE", None)
        return
    assert oraclelib.rls_pb2.RateLimitResponse.Code.Name(reply.overall_code) == overall
    assert {h.key: h.value for h in reply.response_headers_to_add} == ({"x-degraded": said} if said else {})
