# SPDX-License-Identifier: Apache-2.0
"""A real Envoy asks the server."""
import os
import string

import envoyproxy
import oraclelib
import pytest
from ports import free_port

RULES = """\
domain: edge
descriptors:
  - {key: user, rate_limit: {unit: hour, requests_per_unit: 3, name: per-user}}
  - {key: tenant, rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: dark, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
"""
# One of each way to count, by the value of `user`: one passes, and the next waits for about so long, in seconds.
KINDS = {
    "epoch": ("rate_limit: {unit: year, requests_per_unit: 1}", None),
    "first-hit": ("rate_limit: {unit: hour, requests_per_unit: 1, align: first_hit}", 3600),
    "calendar": ("rate_limit: {unit: year, requests_per_unit: 1, align: calendar, time_zone: Asia/Tokyo}", None),
    "sliding-window": ("rate_limit: {unit: year, requests_per_unit: 1, algorithm: sliding_window}", None),
    "sliding-buckets": ("rate_limit: {unit: hour, requests_per_unit: 1, algorithm: sliding_buckets}", 3660),
    "sliding-log": ("rate_limit: {unit: hour, requests_per_unit: 1, algorithm: sliding_log}", 3600),
    "token-bucket": ("rate_limit: {unit: hour, requests_per_unit: 1, algorithm: token_bucket}", 3600),
    "layers": ("limits: [{window: 5h, requests_per_unit: 1, algorithm: sliding_log},"
               " {unit: hour, requests_per_unit: 1, algorithm: token_bucket}]", 5 * 3600),
}
RULES += "".join(f"  - {{key: user, value: {kind}, {limit}}}\n" for kind, (limit, _) in KINDS.items())
HEADERS = {"LIMIT_RESPONSE_HEADERS_ENABLED": "true"}
TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "envoy.yaml")


@pytest.fixture
def server(launch_stores, request):
    """With the settings of the parameter, where a test has one."""
    return launch_stores(RULES, env=getattr(request, "param", None))


@pytest.fixture
def envoy(server, tmp_path, request):
    """Fails open, and closed where a test sets the parameter."""
    with open(TEMPLATE, encoding="utf-8") as f:
        template = string.Template(f.read())
    edge_port, upstream_port = free_port(), free_port()
    deny = str(getattr(request, "param", False)).lower()
    # At start it asks for / without x-user: there is no descriptor, so the server is not asked.
    process = envoyproxy.Envoy(str(tmp_path), template.substitute(
        EDGE_PORT=edge_port, UPSTREAM_PORT=upstream_port, RLS_PORT=server.port, DENY=deny), edge_port)
    yield process
    process.stop()


def reset_seconds(server, user):
    """duration_until_reset of a look, in seconds begun."""
    request = oraclelib.build_request({"domain": "edge", "desc": [{"entries": [["user", user]], "hits": 0}]})
    reply = oraclelib.rls_pb2.RateLimitResponse.FromString(server.caller().send(request.SerializeToString()))
    found = reply.statuses[0].duration_until_reset
    return found.seconds + (found.nanos > 0)


def x_headers(headers):
    return headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]


def test_ok_until_429(envoy):
    for left in ("2", "1", "0"):
        status, headers = envoy.get("/", {"x-user": "a"})
        assert status == 200
        assert x_headers(headers) == ('3, 3;w=3600;name="per-user"', left)
        assert 1 <= int(headers["x-ratelimit-reset"]) <= 3600
    status, headers = envoy.get("/", {"x-user": "a"})
    assert status == 429
    assert headers["x-envoy-ratelimited"] == "true"
    assert x_headers(headers) == ('3, 3;w=3600;name="per-user"', "0")
    assert envoy.get("/", {"x-user": "b"})[0] == 200


def test_shadow_rule_lets_pass(envoy):
    for _ in range(3):
        status, headers = envoy.get("/dark", {"x-user": "a"})
        assert status == 200
        assert x_headers(headers) == ("1, 1;w=3600", "0")


def test_two_descriptors(envoy):
    both = {"x-user": "a", "x-tenant": "t"}
    windows = '3;w=3600;name="per-user", 2;w=86400'
    # The headers show the status with the least left, the first of equals.
    assert [(s, x_headers(h)) for s, h in (envoy.get("/two", both) for _ in range(3))] == [
        (200, (f"2, {windows}", "1")), (200, (f"2, {windows}", "0")), (429, (f"3, {windows}", "0"))]
    assert envoy.get("/two", {"x-user": "b", "x-tenant": "t"})[0] == 429
    assert envoy.get("/two", {"x-user": "b", "x-tenant": "u"})[0] == 200


def test_override_from_dynamic_metadata(envoy):
    replies = [envoy.get("/override", {"x-user": "a"}) for _ in range(8)]
    assert [status for status, _ in replies] == [200] * 7 + [429]
    assert x_headers(replies[0][1]) == ("7, 7;w=3600", "6")


def test_server_stopped_fails_open(envoy, server):
    for _ in range(3):
        envoy.get("/", {"x-user": "a"})
    assert envoy.get("/", {"x-user": "a"})[0] == 429
    server.stop()
    assert envoy.get("/", {"x-user": "a"})[0] == 200


@pytest.mark.parametrize("envoy", [True], indirect=True, ids=["deny"])
def test_server_stopped_fails_closed(envoy, server):
    assert envoy.get("/", {"x-user": "a"})[0] == 200
    server.stop()
    assert envoy.get("/", {"x-user": "a"})[0] == 500


@pytest.mark.parametrize("server", [HEADERS], indirect=True, ids=["headers"])
def test_the_headers_of_a_refusal_tell_how_long_to_wait(envoy, server):
    for kind, (_, wait) in KINDS.items():
        assert envoy.get("/", {"x-user": kind})[0] == 200, kind
        status, headers = envoy.get("/", {"x-user": kind})
        assert status == 429, kind
        told = [int(headers[name]) for name in ("retry-after", "x-ratelimit-reset", "ratelimit-reset")]
        assert told == [told[0]] * 3, kind
        assert told[0] > 0 and (wait is None or wait - 60 <= told[0] <= wait), kind
        assert told[0] - 60 <= reset_seconds(server, kind) <= told[0], f"{kind}: shorter by what has gone by"


@pytest.mark.parametrize("server", [HEADERS], indirect=True, ids=["headers"])
def test_the_headers_of_both_tell_of_the_limit_that_refused(envoy):
    for user in ("a", "b"):
        assert envoy.get("/two", {"x-user": user, "x-tenant": "t"})[0] == 200
    status, headers = envoy.get("/two", {"x-user": "c", "x-tenant": "t"})
    assert status == 429
    assert x_headers(headers) == ('2, 3;w=3600;name="per-user", 2;w=86400', "0")
    assert (headers["ratelimit-limit"], headers["ratelimit-remaining"]) == ("2", "0")
    assert abs(int(headers["ratelimit-reset"]) - int(headers["x-ratelimit-reset"])) <= 1
