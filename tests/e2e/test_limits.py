# SPDX-License-Identifier: Apache-2.0
"""Windows, algorithms and layers in a running server: what a reload keeps, and what else works with each of them."""
import shutil
import tempfile
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import oraclelib
import pytest
from redisserver import RedisServer, find_server
from weirserver import eventually, replace, same, wait_until

PAIR = ["k", "v"]
ZONES = ["UTC", "Asia/Tokyo", "Europe/Paris"]   # of all calendars below
HOUR = "unit: hour, requests_per_unit: "
# Each with room for as many hits at once as its number.
KINDS = {
    "fixed_window": "",
    "first_hit": ", align: first_hit",
    "calendar": ", unit: day, align: calendar, time_zone: Asia/Tokyo",
    "sliding_window": ", algorithm: sliding_window",
    "sliding_buckets": ", algorithm: sliding_buckets",
    "sliding_log": ", algorithm: sliding_log",
    "token_bucket": ", algorithm: token_bucket, burst: %d",
}


def limit(kind, number):
    more = KINDS[kind]
    unit = "" if "unit:" in more else ", unit: hour"
    return "{requests_per_unit: %d%s%s}" % (number, unit, more % number if "%d" in more else more)


def rule(body):
    return "domain: d\ndescriptors:\n  - {key: k, %s}\n" % body


def status(code, left, number, kind):
    return f"{code} {left} of {number}/{'DAY' if kind == 'calendar' else 'HOUR'}? reset *"


def hits(n, pair=None):
    return {"entries": [pair or PAIR], "hits": n}


def has_room_in_the_day(now):
    """Whether no day ends within two minutes, in any of the zones."""
    return all(t.date() == (t + timedelta(minutes=2)).date() for t in (now.astimezone(ZoneInfo(z)) for z in ZONES))


@pytest.fixture(autouse=True)
def room_in_the_day():
    wait_until(lambda: has_room_in_the_day(datetime.now(timezone.utc)), "the next day", 130)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def redis_url():
    folder = tempfile.mkdtemp(prefix="weir-redis.")
    program = find_server(folder)
    assert program, "no redis-server here; Debian has it in redis-tools"
    redis = RedisServer(program, folder, None).start()
    yield redis.url
    redis.stop()
    shutil.rmtree(folder)


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.valkey)])
def serve(request, launch):
    """serve(rules, …) starts a server that counts in memory, then one that counts in Redis."""
    flags = []
    if request.param == "redis":
        flags = ["--store", "redis", "--redis-url", request.getfixturevalue("redis_url"), "--redis-timeout", "5s"]

    def start(rules, *further, **more):
        server = launch(rules, *flags, *further, **more)
        wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached its store")
        return server
    start.max_takes = 256 if flags else 2048
    return start


def test_no_day_ends_under_a_test():
    def ends(month):
        moments = (datetime(2026, month, 1, hour, minute, tzinfo=timezone.utc) for hour in range(24) for minute in (0, 57, 59))
        return [(t.hour, t.minute) for t in moments if not has_room_in_the_day(t)]
    assert ends(1) == [(14, 59), (22, 59), (23, 59)]
    assert ends(7) == [(14, 59), (21, 59), (23, 59)]


def test_another_number_keeps_what_was_counted(serve, kind):
    server = serve({"r.yaml": rule("rate_limit: " + limit(kind, 10))})
    caller = server.caller()
    same("OK: " + status("OK", 6, 10, kind), caller.call("d", hits(4)))
    replace(server.rules, "r.yaml", rule("rate_limit: " + limit(kind, 20)))
    eventually("OK: " + status("OK", 16, 20, kind), lambda: caller.peek("d", PAIR))
    replace(server.rules, "r.yaml", rule("rate_limit: " + limit(kind, 5)))
    eventually("OK: " + status("OK", 1, 5, kind), lambda: caller.peek("d", PAIR))


def test_another_kind_begins_anew(serve, kind):
    other = "token_bucket" if kind == "fixed_window" else "fixed_window"
    server = serve({"r.yaml": rule("rate_limit: " + limit(kind, 10))})
    caller = server.caller()
    same("OK: " + status("OK", 6, 10, kind), caller.call("d", hits(4)))
    replace(server.rules, "r.yaml", rule("rate_limit: " + limit(other, 20)))
    eventually("OK: " + status("OK", 20, 20, other), lambda: caller.peek("d", PAIR))


def test_another_window_begins_anew(serve):
    server = serve({"r.yaml": rule("rate_limit: {window: 90m, requests_per_unit: 10}")})
    caller = server.caller()
    same("OK: OK 6 of 10/* reset *", caller.call("d", hits(4)))
    replace(server.rules, "r.yaml", rule("rate_limit: {window: 91m, requests_per_unit: 11}"))
    eventually("OK: OK 11 of 11/* reset *", lambda: caller.peek("d", PAIR))


def test_another_time_zone_begins_anew(serve):
    def day(number, more=""):
        return rule("rate_limit: {unit: day, align: calendar%s, requests_per_unit: %d}" % (more, number))

    server = serve({"r.yaml": day(10)})
    caller = server.caller()
    same("OK: OK 6 of 10/DAY? reset *", caller.call("d", hits(4)))
    replace(server.rules, "r.yaml", day(20, ", time_zone: UTC"))
    eventually("OK: OK 16 of 20/DAY? reset *", lambda: caller.peek("d", PAIR))
    for zone, number in zip(ZONES[1:], (30, 40)):
        replace(server.rules, "r.yaml", day(number, f", time_zone: {zone}"))
        eventually(f"OK: OK {number} of {number}/DAY? reset *", lambda: caller.peek("d", PAIR))
        same(f"OK: OK {number - 1} of {number}/DAY? reset *", caller.call("d", [PAIR]))
    replace(server.rules, "r.yaml", day(50, ", time_zone: Asia/Tokyo"))
    eventually("OK: OK 49 of 50/DAY? reset *", lambda: caller.peek("d", PAIR))


@pytest.mark.parametrize("rules", [
    rule("rate_limit: {%s9, count: all_or_nothing}" % HOUR),
    rule("rate_limit: {%s9}" % HOUR) + "  - {key: other, rate_limit: {%s9, count: all_or_nothing}}\n" % HOUR,
    rule("rate_limit: {%s9}" % HOUR) + "count: all_or_nothing\n",
    rule("rate_limit: {%s9, count: admitted}" % HOUR),
], ids=["rule", "another rule", "domain", "admitted"])
def test_another_way_to_charge_keeps_what_was_counted(serve, rules):
    server = serve({"r.yaml": rule("rate_limit: {%s10}" % HOUR)})
    caller = server.caller()
    same("OK: OK 6 of 10/HOUR", caller.call("d", hits(4)))
    replace(server.rules, "r.yaml", rules)
    eventually("OK: OK 5 of 9/HOUR", lambda: caller.peek("d", PAIR))
    same("OK: OK 4 of 9/HOUR", caller.call("d", [PAIR]))
    replace(server.rules, "r.yaml", rule("rate_limit: {%s10}" % HOUR))
    eventually("OK: OK 5 of 10/HOUR", lambda: caller.peek("d", PAIR))


def test_a_layer_that_is_added_leaves_the_others_their_count(serve):
    server = serve({"r.yaml": rule("rate_limit: {unit: hour, requests_per_unit: 10}")})
    caller = server.caller()
    same("OK: OK 6 of 10/HOUR", caller.call("d", hits(4)))
    replace(server.rules, "r.yaml", rule("limits: [{unit: hour, requests_per_unit: 9}, {unit: day, requests_per_unit: 90}]"))
    eventually("OK: OK 5 of 9/HOUR", lambda: caller.peek("d", PAIR))


def test_looks_refunds_and_overshoot(serve, kind):
    caller = serve(rule("rate_limit: " + limit(kind, 10))).caller()
    same("OK: " + status("OK", 10, 10, kind), caller.peek("d", PAIR))
    same("OK: " + status("OK", 2, 10, kind), caller.call("d", hits(8)))
    same("OK: " + status("OK", 5, 10, kind), caller.call("d", {"entries": [PAIR], "refund": 3}))
    same("OK: " + status("OK", 0, 10, kind), caller.call("d", hits(5)))
    same("OK: " + status("OK", 0, 10, kind), caller.peek("d", PAIR))
    same("OVER: " + status("OVER", 0, 10, kind), caller.call("d", [PAIR]))


def test_a_trial_and_a_quota_refuse_nobody_alone(serve, kind):
    rules = ("domain: d\ndescriptors:\n"
             f"  - {{key: s, shadow_mode: true, rate_limit: {limit(kind, 1)}}}\n"
             f"  - {{key: q, quota_mode: true, rate_limit: {limit(kind, 1)}}}\n"
             f"  - {{key: f, quota_mode: true, rate_limit: {limit(kind, 9)}}}\n")
    caller = serve(rules).caller()
    shadow, quota, free = ([[key, "v"]] for key in "sqf")
    caller.call("d", shadow, quota, free)
    same(f"OK: {status('OK', 0, 1, kind)}, {status('OVER', 0, 1, kind)}, {status('OK', 7, 9, kind)}",
         caller.call("d", shadow, quota, free))
    same(f"OVER: {status('OVER', 0, 1, kind)}", caller.call("d", quota))


def test_shared_patterns_and_groups_of_addresses(serve, kind):
    rules = ("domain: d\ndescriptors:\n"
             f"  - {{key: p, value: 'a*', share_threshold: true, rate_limit: {limit(kind, 5)}}}\n"
             f"  - {{key: ip, group_ip: {{ipv4: 24, ipv6: 64}}, rate_limit: {limit(kind, 5)}}}\n")
    caller = serve(rules).caller()
    for values, left in ((("192.0.2.1", "192.0.2.99", "::ffff:192.0.2.7"), 2), (("2001:db8::1", "2001:db8:0:0:1::"), 3),
                         (("192.0.3.1",), 4), (("192.0.2.0/24",), 4), (("ann",), 4)):
        for value in values:
            reply = caller.call("d", [["ip", value]])
        same("OK: " + status("OK", left, 5, kind), reply)
    caller.call("d", [["p", "a1"]])
    same("OK: " + status("OK", 3, 5, kind), caller.call("d", [["p", "a2"]]))


def test_an_override_has_its_number_and_unit_and_the_kind_of_its_path(serve, kind):
    caller = serve(rule("rate_limit: " + limit(kind, 10))).caller()
    unit = "DAY" if kind == "calendar" else "HOUR"
    # of one number and unit with the rule it goes on where the rule was
    same("OK: " + status("OK", 6, 10, kind), caller.call("d", hits(4)))
    same("OK: " + status("OK", 5, 10, kind), caller.call("d", {"entries": [PAIR], "limit": [10, unit]}))
    same("OK: " + status("OK", 4, 10, kind), caller.call("d", [PAIR]))


def test_an_override_is_told_by_the_unit_it_has(launch):
    """By every unit of the official messages, in the status and in the metadata."""
    units = oraclelib.rls_pb2.RateLimitResponse.RateLimit.Unit
    caller = launch(rule("rate_limit: {unit: hour, requests_per_unit: 10}"), "--response-dynamic-metadata").caller()
    assert len(units.keys()) == 8
    for unit, number in units.items():
        request = oraclelib.build_request({"domain": "d", "desc": [[PAIR]]})
        request.descriptors[0].limit.requests_per_unit = 5
        request.descriptors[0].limit.unit = number
        if unit == "UNKNOWN":
            assert caller.error(request.SerializeToString())[0] == "INVALID_ARGUMENT"
            continue
        reply = oraclelib.rls_pb2.RateLimitResponse.FromString(caller.send(request.SerializeToString()))
        assert units.Name(reply.statuses[0].current_limit.unit) == unit
        assert reply.dynamic_metadata["descriptors"][0]["limit"] == f"requests_per_unit:5 unit:{unit}"


def test_an_override_counts_addresses_together_as_its_path_does(serve):
    rules = ("domain: d\ndescriptors:\n"
             "  - {key: ip, group_ip: {ipv4: 24, ipv6: 64}, rate_limit: {unit: hour, requests_per_unit: 5}}\n"
             "  - {key: p, value: 'a*', share_threshold: true, rate_limit: {unit: hour, requests_per_unit: 5}}\n")
    caller = serve(rules).caller()
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["ip", "2001:db8::1"]]))
    for left in (7, 6):
        own = {"entries": [["ip", f"2001:db8::{left}"]], "limit": [9, "HOUR"]}
        same(f"OK: OK {left} of 9/HOUR", caller.call("d", own))
    same("OK: OK 1 of 5/HOUR", caller.call("d", [["ip", "2001:db8::1"]]))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["p", "a1"]]))
    same("OK: OK 8 of 9/HOUR", caller.call("d", {"entries": [["p", "a1"]], "limit": [9, "HOUR"]}))


def test_a_replaced_layer_is_not_counted(serve):
    rules = ("domain: d\ndescriptors:\n"
             "  - {key: k, limits: [{unit: hour, requests_per_unit: 1, name: tight}, {unit: day, requests_per_unit: 9}]}\n"
             "  - {key: vip, rate_limit: {unit: hour, requests_per_unit: 99, replaces: [{name: tight}]}}\n")
    caller = serve(rules).caller()
    same("OK: OK 0 of 1/HOUR?", caller.call("d", [PAIR]))
    same("OVER: OVER 0 of 1/HOUR?", caller.call("d", [PAIR]))
    same("OK: OK 7 of 9/DAY, OK 98 of 99/HOUR", caller.call("d", [PAIR], [["vip", "v"]]))


def test_a_call_that_meets_too_many_limits_is_refused_and_charged_nothing(serve):
    """--max-takes bounds what one step of a store may have to judge, whatever a client asks for."""
    limits = ", ".join(f"{{window: {i}h, requests_per_unit: 9}}" for i in range(1, 17))
    caller = serve(rule(f"limits: [{limits}]")).caller()
    most = serve.max_takes
    data = [[["k", str(i)]] for i in range(most // 16 + 1)]
    request = oraclelib.build_request({"domain": "d", "desc": data}).SerializeToString()
    code, message, fields = caller.error(request)
    assert (code, fields) == ("RESOURCE_EXHAUSTED", ["descriptors"])
    assert message == f"descriptors meet more than {most} limits, this server's --max-takes"
    same("OK: OK 9 of 9/*", caller.peek("d", ["k", "0"]))
    assert caller.call("d", *data[:-1])["overall"] == "OK"
    same("OK: OK 8 of 9/*", caller.peek("d", ["k", "0"]))


@pytest.mark.parametrize("serve, flags, n, is_let_in", [
    ("memory", [], 1024, True), ("memory", ["--max-takes", "3"], 3, True), ("memory", ["--max-takes", "3"], 4, False),
    ("memory", ["--max-descriptors", "2100"], 2100, True),
    ("memory", ["--max-descriptors", "2100", "--max-takes", "2099"], 2100, False),
    ("redis", [], 256, True), ("redis", [], 257, False), ("redis", ["--max-descriptors", "2100"], 257, False),
    ("redis", ["--max-takes", "300"], 300, True)], indirect=["serve"])
def test_limits_of_a_call_are_bounded_as_said(serve, flags, n, is_let_in):
    caller = serve(rule("rate_limit: {unit: hour, requests_per_unit: 9}"), *flags).caller()
    reply = caller.call("d", *([["k", str(i)]] for i in range(n)))
    assert (reply != {"error": "RESOURCE_EXHAUSTED"}) == is_let_in
    same(f"OK: OK {8 if is_let_in else 9} of 9/HOUR", caller.peek("d", ["k", "0"]))


def test_layers_on_trial_are_charged_as_in_earnest(serve):
    caller = serve(rule("shadow_mode: true, limits: [{unit: hour, requests_per_unit: 2}, {unit: day, requests_per_unit: 9}]")).caller()
    for _ in range(6):
        reply = caller.call("d", [PAIR])
    same("OK: OK 0 of 2/HOUR", reply)


def test_the_window_is_the_name_of_a_status_without_one(serve):
    caller = serve(rule("rate_limit: {window: 90m, requests_per_unit: 9}")).caller()
    found = caller.call("d", [PAIR])["statuses"][0]["limit"]
    assert (found["rpu"], found["unit"], found["name"]) == (9, "HOUR", "90m")


def test_headers_agree_with_the_layer_that_is_shown(serve):
    caller = serve(rule("limits: [{unit: hour, requests_per_unit: 9}, {unit: day, requests_per_unit: 2}]"),
                    env={"LIMIT_RESPONSE_HEADERS_ENABLED": "true"}).caller()
    for left in ("1", "0", "0"):
        reply = caller.call("d", [PAIR])
        headers = {h.lower(): v for h, v in reply["headers"]}
        assert headers["ratelimit-limit"] == "2"
        assert headers["ratelimit-remaining"] == left
        # a mark of what is left of a day, which no layer but that one has
        assert headers["ratelimit-reset"] == {"reset": 86400}
