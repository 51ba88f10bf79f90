# SPDX-License-Identifier: Apache-2.0
"""grpcurl, which knows our messages by reflection alone."""
import json

import pytest
import weirserver

SERVICE = "envoy.service.ratelimit.v3.RateLimitService"
RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 2, name: two}}\n"


@pytest.fixture
def curl(launch_stores, grpcurl):
    server = launch_stores(RULES)

    def call(*words, data=None):
        flags = ["-plaintext"] + (["-d", json.dumps(data)] if data is not None else [])
        return weirserver.run(grpcurl, *flags, server.address, *words)
    return call


def test_list(curl):
    result = curl("list")
    assert result.returncode == 0, result.stderr
    assert set(result.stdout.split()) == {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                          "grpc.reflection.v1alpha.ServerReflection"}


def test_describe(curl):
    service = curl("describe", SERVICE)
    assert "rpc ShouldRateLimit" in service.stdout, service.stderr
    message = curl("describe", "envoy.service.ratelimit.v3.RateLimitRequest")
    assert "string domain = 1;" in message.stdout, message.stderr


def test_call_until_over(curl):
    request = {"domain": "d", "descriptors": [{"entries": [{"key": "k", "value": "a"}]}]}
    replies = [curl(f"{SERVICE}/ShouldRateLimit", data=request) for _ in range(3)]
    assert [r.returncode for r in replies] == [0, 0, 0], [r.stderr for r in replies]
    answers = [json.loads(r.stdout) for r in replies]
    assert [a["overallCode"] for a in answers] == ["OK", "OK", "OVER_LIMIT"]
    assert answers[0]["statuses"][0]["currentLimit"] == {"name": "two", "requestsPerUnit": 2, "unit": "HOUR"}


def test_error_names_the_field(curl):
    result = curl(f"{SERVICE}/ShouldRateLimit", data={"domain": "", "descriptors": []})
    assert result.returncode != 0
    assert "InvalidArgument" in result.stderr
    assert "BadRequest" in result.stderr
    assert "domain" in result.stderr


def test_health(curl):
    result = curl("grpc.health.v1.Health/Check", data={"service": "ratelimit"})
    assert json.loads(result.stdout) == {"status": "SERVING"}, result.stderr
