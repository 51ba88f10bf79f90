# SPDX-License-Identifier: Apache-2.0
"""Server reflection, v1 and v1alpha. The messages of both are alike, so the official v1alpha ones
serve for both and only the name of the method differs."""
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_reflection.v1alpha import reflection_pb2 as reflection
from weirserver import PATIENCE_SECONDS

RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 5}}\n"
SERVICES = {
    "envoy.service.ratelimit.v3.RateLimitService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
}
NOT_FOUND = 5


@pytest.fixture(params=["v1", "v1alpha"])
def ask(launch, request):
    """ask(field=value, …) sends all requests on one stream -> the replies."""
    channel = launch(RULES).caller().channel
    method = channel.stream_stream(f"/grpc.reflection.{request.param}.ServerReflection/ServerReflectionInfo",
                                   request_serializer=reflection.ServerReflectionRequest.SerializeToString,
                                   response_deserializer=reflection.ServerReflectionResponse.FromString)
    return lambda *requests: list(method(iter([reflection.ServerReflectionRequest(**r) for r in requests]), timeout=PATIENCE_SECONDS))


def files_of(reply):
    return [descriptor_pb2.FileDescriptorProto.FromString(b) for b in reply.file_descriptor_response.file_descriptor_proto]


def load(ask, symbol):
    """A pool with the symbol's file and all that it imports, asked for as a client does."""
    known, wanted = {}, [{"file_containing_symbol": symbol}]
    while wanted:
        for file in files_of(ask(wanted.pop())[0]):
            known[file.name] = file
        wanted += [{"file_by_filename": d} for f in known.values() for d in f.dependency if d not in known][:1]
    pool = descriptor_pool.DescriptorPool()

    def add(file):
        for name in file.dependency:
            add(known[name])
        pool.Add(file)
    for file in known.values():
        add(file)
    return pool


def test_list_services(ask):
    reply, = ask({"list_services": "*"})
    assert {s.name for s in reply.list_services_response.service} == SERVICES


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_service_loads(ask, service):
    assert load(ask, service).FindServiceByName(service).methods


@pytest.mark.parametrize("symbol", [
    "envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit",
    "envoy.service.ratelimit.v3.RateLimitRequest",
    "envoy.service.ratelimit.v3.RateLimitRequest.domain",
    "envoy.service.ratelimit.v3.RateLimitResponse.Code",
    "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry",
])
def test_symbol(ask, symbol):
    reply, = ask({"file_containing_symbol": symbol})
    package = files_of(reply)[0].package
    assert symbol.startswith(package + ".")


@pytest.mark.parametrize("request_", [
    {"file_containing_symbol": "no.such.Thing"},
    {"file_by_filename": "no/such.proto"},
], ids=["symbol", "file"])
def test_unknown_keeps_the_stream_open(ask, request_):
    bad, good = ask(request_, {"list_services": ""})
    assert bad.error_response.error_code == NOT_FOUND
    assert bad.original_request == reflection.ServerReflectionRequest(**request_)
    assert good.list_services_response.service


def test_pool_encodes_a_request(ask):
    pool = load(ask, "envoy.service.ratelimit.v3.RateLimitService")
    descriptor = pool.FindMessageTypeByName("envoy.extensions.common.ratelimit.v3.RateLimitDescriptor")
    assert {f.name: f.number for f in descriptor.fields} == {
        "entries": 1, "limit": 2, "hits_addend": 3, "is_negative_hits": 4}
