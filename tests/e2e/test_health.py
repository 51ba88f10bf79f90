# SPDX-License-Identifier: Apache-2.0
"""grpc.health.v1 by the official stubs."""
import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from test_end import end_at_once
from weirserver import PATIENCE_SECONDS

RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 5}}\n"
MAX_WATCHERS = 1000     # of server/app.c
NAMES = ["", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"]
LIVE = "live"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


def health(server):
    return health_pb2_grpc.HealthStub(server.caller().channel)


def ask(name):
    return health_pb2.HealthCheckRequest(service=name)


@pytest.mark.parametrize("name", [*NAMES, LIVE])
def test_check_serving(launch, name):
    assert health(launch(RULES)).Check(ask(name), timeout=PATIENCE_SECONDS).status == SERVING


def test_check_unknown_name(launch):
    with pytest.raises(grpc.RpcError) as e:
        health(launch(RULES)).Check(ask("nobody"), timeout=PATIENCE_SECONDS)
    assert e.value.code() == grpc.StatusCode.NOT_FOUND


def test_list(launch):
    reply = health(launch(RULES)).List(health_pb2.HealthListRequest(), timeout=PATIENCE_SECONDS)
    assert {name: s.status for name, s in reply.statuses.items()} == {name: SERVING for name in [*NAMES, LIVE]}


@pytest.mark.parametrize("name", NAMES)
def test_watch_at_once_and_on_change(launch, name):
    server = launch(RULES)
    stream = health(server).Watch(ask(name), timeout=PATIENCE_SECONDS)
    assert next(stream).status == SERVING
    server.signal_stop()
    assert next(stream).status == NOT_SERVING
    assert server.process.wait(PATIENCE_SECONDS) == 0


def test_watch_of_unknown_name_stays_open(launch):
    server = launch(RULES)
    stub = health(server)
    stream = stub.Watch(ask("nobody"), timeout=PATIENCE_SECONDS)
    assert next(stream).status == SERVICE_UNKNOWN
    assert stub.Check(ask(""), timeout=PATIENCE_SECONDS).status == SERVING
    assert stream.is_active()
    stream.cancel()


def test_many_watchers_come_and_go(launch):
    server = launch(RULES)
    stub = health(server)
    for _ in range(MAX_WATCHERS + 100):
        stream = stub.Watch(ask(""), timeout=PATIENCE_SECONDS)
        assert next(stream).status == SERVING
        stream.cancel()
    assert stub.Check(ask(""), timeout=PATIENCE_SECONDS).status == SERVING


def test_not_serving_while_no_file_is_good(launch):
    server = launch("domain: [\n")
    assert health(server).Check(ask(""), timeout=PATIENCE_SECONDS).status == NOT_SERVING
    assert health(server).Check(ask(LIVE), timeout=PATIENCE_SECONDS).status == SERVING
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}


def test_live_through_a_drain(launch):
    """On a connection from before, and on a new one for as long as the socket is open."""
    server = launch(RULES, "--drain-delay=60s")
    stub = health(server)
    states = stub.Watch(ask(""), timeout=PATIENCE_SECONDS)
    assert next(states).status == SERVING
    server.signal_stop()
    assert next(states).status == NOT_SERVING
    assert [stub.Check(ask(LIVE), timeout=PATIENCE_SECONDS).status, health(server).Check(ask(LIVE), timeout=PATIENCE_SECONDS).status] == [SERVING] * 2
    end_at_once(server)
