# SPDX-License-Identifier: Apache-2.0
"""Our proto files say what the official ones say.

proto/ is written by hand, so each message, enum and service in it is compared with the descriptors
that the official Python packages carry: names, numbers, types, labels, oneofs, JSON names, methods.
A file may leave out whole messages (OURS_ALONE lists which files do, and what they keep), but a
message that it has must have all fields. A new file below proto/ is compared without being listed.
"""

import copy
import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import rlsconf
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

PROTO_DIR = Path(__file__).resolve().parents[2] / "proto"

# The official module of a/b.proto is a.b_pb2, save for these.
MODULES = {
    "grpc/health/v1/health.proto": "grpc_health.v1.health_pb2",
    "grpc/reflection/v1/reflection.proto": "grpc_reflection.v1alpha.reflection_pb2",
    "grpc/reflection/v1alpha/reflection.proto": "grpc_reflection.v1alpha.reflection_pb2",
}

# No Python package has reflection v1; it is v1alpha under another package name.
RENAMED = {
    "grpc/reflection/v1/reflection.proto": ("grpc.reflection.v1alpha", "grpc.reflection.v1"),
}

# No Python package has these: the official text as the tests have written it down.
WRITTEN_DOWN = {rlsconf.FILE.name: rlsconf.FILE}

# Files that keep only some of the official top-level types: exactly these.
OURS_ALONE = {
    "envoy/config/core/v3/base.proto": {"HeaderValue"},
    "envoy/extensions/common/ratelimit/v3/ratelimit.proto": {"RateLimitDescriptor"},
    "google/rpc/error_details.proto": {"BadRequest", "LocalizedMessage", "RetryInfo"},
}

# Fields that Envoy has and xds-protos does not have yet.
AHEAD = {
    "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.is_negative_hits": {
        "number": 4,
        "type": "TYPE_BOOL",
        "label": "LABEL_OPTIONAL",
        "type_name": "",
        "oneof": None,
        "json_name": "isNegativeHits",
        "proto3_optional": False,
        "packed": None,
    },
}

KINDS = ("files", "messages", "fields", "enum values", "methods")

Facts = dict[str, Any]


@dataclass
class Comparison:
    """What was looked at, and what is not as it should be."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    ahead: list[str] = field(default_factory=list)
    caught_up: list[str] = field(default_factory=list)

    def facts(self, path: str, ours: Facts, official: Facts) -> None:
        for fact, value in official.items():
            if ours[fact] != value:
                self.differences.append(f"{path}: {fact} is {ours[fact]!r}, officially {value!r}")

    def names(self, path: str, kind: str, ours: set[str], official: set[str]) -> list[str]:
        """Notes the names that only one side has; answers those that both have."""
        for name in sorted(official - ours):
            self.differences.append(f"{path}: {kind} {name} is missing")
        for name in sorted(ours - official):
            self.differences.append(f"{path}: {kind} {name} is not official")
        return sorted(ours & official)


def by_name(items: Sequence[Any]) -> dict[str, Any]:
    return {item.name: item for item in items}


def default_json_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def field_facts(message: DescriptorProto, item: FieldDescriptorProto) -> Facts:
    in_oneof = item.HasField("oneof_index")
    return {
        "number": item.number,
        "type": FieldDescriptorProto.Type.Name(item.type),
        "label": FieldDescriptorProto.Label.Name(item.label),
        "type_name": item.type_name,
        "oneof": message.oneof_decl[item.oneof_index].name if in_oneof else None,
        "json_name": item.json_name or default_json_name(item.name),
        "proto3_optional": item.proto3_optional,
        "packed": item.options.packed if item.options.HasField("packed") else None,
    }


def compare_fields(
    path: str, ours: DescriptorProto, official: DescriptorProto, result: Comparison
) -> None:
    our_facts = {item.name: field_facts(ours, item) for item in ours.field}
    official_facts = {item.name: field_facts(official, item) for item in official.field}
    for name in our_facts:
        full_name = f"{path}.{name}"
        if full_name in AHEAD and name in official_facts:
            result.caught_up.append(full_name)
        elif full_name in AHEAD:
            result.ahead.append(full_name)
            official_facts[name] = AHEAD[full_name]
    for name in result.names(path, "field", set(our_facts), set(official_facts)):
        result.facts(f"{path}.{name}", our_facts[name], official_facts[name])
        result.counts["fields"] += 1


def compare_enum(
    path: str, ours: EnumDescriptorProto, official: EnumDescriptorProto, result: Comparison
) -> None:
    our_values, official_values = by_name(ours.value), by_name(official.value)
    for name in result.names(path, "value", set(our_values), set(official_values)):
        result.facts(
            f"{path}.{name}",
            {"number": our_values[name].number},
            {"number": official_values[name].number},
        )
        result.counts["enum values"] += 1


def compare_message(
    path: str, ours: DescriptorProto, official: DescriptorProto, result: Comparison
) -> None:
    result.counts["messages"] += 1
    result.facts(
        path,
        {"map_entry": ours.options.map_entry},
        {"map_entry": official.options.map_entry},
    )
    compare_fields(path, ours, official, result)
    compare_types(path, ours.nested_type, official.nested_type, compare_message, result)
    compare_types(path, ours.enum_type, official.enum_type, compare_enum, result)


def compare_service(
    path: str, ours: ServiceDescriptorProto, official: ServiceDescriptorProto, result: Comparison
) -> None:
    our_methods, official_methods = by_name(ours.method), by_name(official.method)
    for name in result.names(path, "method", set(our_methods), set(official_methods)):
        sides = [
            {
                "input": method.input_type,
                "output": method.output_type,
                "client_streaming": method.client_streaming,
                "server_streaming": method.server_streaming,
            }
            for method in (our_methods[name], official_methods[name])
        ]
        result.facts(f"{path}.{name}", sides[0], sides[1])
        result.counts["methods"] += 1


def compare_types(
    path: str,
    ours: Sequence[Any],
    official: Sequence[Any],
    compare: Callable[[str, Any, Any, Comparison], None],
    result: Comparison,
) -> None:
    our_types, official_types = by_name(ours), by_name(official)
    kind = compare.__name__.removeprefix("compare_")
    for name in result.names(path, kind, set(our_types), set(official_types)):
        compare(f"{path}.{name}", our_types[name], official_types[name], result)


def compare_file(
    ours: FileDescriptorProto, official: FileDescriptorProto, result: Comparison
) -> None:
    result.counts["files"] += 1
    result.facts(
        ours.name,
        {"package": ours.package, "syntax": ours.syntax},
        {"package": official.package, "syntax": official.syntax},
    )
    kept = OURS_ALONE.get(ours.name)
    groups = (
        (ours.message_type, official.message_type, compare_message),
        (ours.enum_type, official.enum_type, compare_enum),
        (ours.service, official.service, compare_service),
    )
    for our_types, official_types, compare in groups:
        wanted = [item for item in official_types if kept is None or item.name in kept]
        compare_types(official.package, our_types, wanted, compare, result)


def official_file(name: str) -> FileDescriptorProto:
    if name in WRITTEN_DOWN:
        return WRITTEN_DOWN[name]
    module = MODULES.get(name, name.removesuffix(".proto").replace("/", ".") + "_pb2")
    official = FileDescriptorProto.FromString(
        importlib.import_module(module).DESCRIPTOR.serialized_pb
    )
    if name in RENAMED:
        text = text_format.MessageToString(official).replace(*RENAMED[name])
        official = text_format.Parse(text, FileDescriptorProto())
    return official


def compare_set(ours: FileDescriptorSet) -> Comparison:
    result = Comparison()
    for file in ours.file:
        compare_file(file, official_file(file.name), result)
    return result


def empty_kinds(result: Comparison) -> list[str]:
    return [kind for kind in KINDS if result.counts[kind] == 0]


@pytest.fixture(scope="module")
def our_set(tmp_path_factory: pytest.TempPathFactory) -> FileDescriptorSet:
    names = sorted(str(path.relative_to(PROTO_DIR)) for path in PROTO_DIR.rglob("*.proto"))
    assert names, f"no proto files below {PROTO_DIR}"
    output = tmp_path_factory.mktemp("proto") / "ours.bin"
    subprocess.run(
        ["protoc", f"-I{PROTO_DIR}", f"--descriptor_set_out={output}", *names],
        check=True,
        timeout=60,
    )
    return FileDescriptorSet.FromString(output.read_bytes())


def test_our_protos_are_the_official_ones(
    our_set: FileDescriptorSet, capsys: pytest.CaptureFixture[str]
) -> None:
    result = compare_set(our_set)
    counts = ", ".join(f"{result.counts[kind]} {kind}" for kind in KINDS)
    with capsys.disabled():
        print(f"\nproto conformance: compared {counts}", file=sys.stderr)
    assert not empty_kinds(result), f"nothing to compare of: {', '.join(empty_kinds(result))}"
    assert not result.differences, "\n" + "\n".join(result.differences)


def test_files_that_keep_a_part_exist(our_set: FileDescriptorSet) -> None:
    assert set(OURS_ALONE) | set(MODULES) | set(WRITTEN_DOWN) <= set(by_name(our_set.file))


def test_the_official_packages_still_lack_what_we_have_ahead_of_them(
    our_set: FileDescriptorSet,
) -> None:
    result = compare_set(our_set)
    assert not result.caught_up, (
        f"the official package now has {', '.join(result.caught_up)}: drop it from AHEAD, so that "
        "it is compared like the others"
    )
    assert result.ahead == list(AHEAD)


def test_an_official_package_that_caught_up_is_noticed(our_set: FileDescriptorSet) -> None:
    result = Comparison()
    for file in our_set.file:
        compare_file(file, file, result)
    assert result.caught_up == list(AHEAD)


def renumber_field(files: dict[str, Any]) -> None:
    request = by_name(files["envoy/service/ratelimit/v3/rls.proto"].message_type)
    by_name(request["RateLimitRequest"].field)["hits_addend"].number = 4


def retype_field(files: dict[str, Any]) -> None:
    request = by_name(files["envoy/service/ratelimit/v3/rls.proto"].message_type)
    by_name(request["RateLimitRequest"].field)["hits_addend"].type = (
        FieldDescriptorProto.TYPE_UINT64
    )


def relabel_field(files: dict[str, Any]) -> None:
    status = by_name(files["google/rpc/status.proto"].message_type)["Status"]
    by_name(status.field)["details"].label = FieldDescriptorProto.LABEL_OPTIONAL


def swap_message_type(files: dict[str, Any]) -> None:
    descriptor = files["envoy/extensions/common/ratelimit/v3/ratelimit.proto"].message_type[0]
    by_name(descriptor.field)["hits_addend"].type_name = ".google.protobuf.UInt32Value"


def leave_oneof(files: dict[str, Any]) -> None:
    response = by_name(files["envoy/service/ratelimit/v3/rls.proto"].message_type)
    quota = by_name(response["RateLimitResponse"].nested_type)["Quota"]
    by_name(quota.field)["valid_until"].ClearField("oneof_index")


def rename_in_json(files: dict[str, Any]) -> None:
    header = files["envoy/config/core/v3/base.proto"].message_type[0]
    by_name(header.field)["raw_value"].json_name = "raw_value"


def drop_field(files: dict[str, Any]) -> None:
    del files["envoy/config/core/v3/base.proto"].message_type[0].field[2]


def add_field(files: dict[str, Any]) -> None:
    header = files["envoy/config/core/v3/base.proto"].message_type[0]
    header.field.add(name="extra", number=4, type="TYPE_BOOL", label="LABEL_OPTIONAL")


def renumber_field_ahead(files: dict[str, Any]) -> None:
    descriptor = files["envoy/extensions/common/ratelimit/v3/ratelimit.proto"].message_type[0]
    by_name(descriptor.field)["is_negative_hits"].number = 5


def renumber_enum_value(files: dict[str, Any]) -> None:
    units = files["envoy/type/v3/ratelimit_unit.proto"].enum_type[0]
    by_name(units.value)["MONTH"].number = 7


def drop_enum_value(files: dict[str, Any]) -> None:
    response = by_name(files["grpc/health/v1/health.proto"].message_type)["HealthCheckResponse"]
    del response.enum_type[0].value[3]


def drop_nested_message(files: dict[str, Any]) -> None:
    bad_request = by_name(files["google/rpc/error_details.proto"].message_type)["BadRequest"]
    del bad_request.nested_type[:]


def drop_message(files: dict[str, Any]) -> None:
    del files["grpc/reflection/v1/reflection.proto"].message_type[-1]


def stop_streaming(files: dict[str, Any]) -> None:
    by_name(files["grpc/health/v1/health.proto"].service[0].method)[
        "Watch"
    ].server_streaming = False


def drop_method(files: dict[str, Any]) -> None:
    del files["grpc/health/v1/health.proto"].service[0].method[:1]


def move_package(files: dict[str, Any]) -> None:
    files["grpc/reflection/v1alpha/reflection.proto"].package = "grpc.reflection.v1"


@pytest.mark.parametrize(
    ("mutate", "expected"),
    [
        (renumber_field, "RateLimitRequest.hits_addend: number is 4, officially 3"),
        (retype_field, "RateLimitRequest.hits_addend: type is 'TYPE_UINT64'"),
        (relabel_field, "google.rpc.Status.details: label is 'LABEL_OPTIONAL'"),
        (swap_message_type, "RateLimitDescriptor.hits_addend: type_name is"),
        (leave_oneof, "Quota.valid_until: oneof is None, officially 'expiration_specifier'"),
        (rename_in_json, "HeaderValue.raw_value: json_name is 'raw_value'"),
        (drop_field, "HeaderValue: field raw_value is missing"),
        (add_field, "HeaderValue: field extra is not official"),
        (renumber_field_ahead, "RateLimitDescriptor.is_negative_hits: number is 5, officially 4"),
        (renumber_enum_value, "RateLimitUnit.MONTH: number is 7, officially 5"),
        (drop_enum_value, "ServingStatus: value SERVICE_UNKNOWN is missing"),
        (drop_nested_message, "BadRequest: message FieldViolation is missing"),
        (drop_message, "grpc.reflection.v1: message ErrorResponse is missing"),
        (stop_streaming, "Health.Watch: server_streaming is False, officially True"),
        (drop_method, "grpc.health.v1.Health: method Check is missing"),
        (move_package, "v1alpha/reflection.proto: package is 'grpc.reflection.v1'"),
    ],
)
def test_a_difference_is_found(
    our_set: FileDescriptorSet, mutate: Callable[[dict[str, Any]], None], expected: str
) -> None:
    mutated = copy.deepcopy(our_set)
    mutate(by_name(mutated.file))
    differences = compare_set(mutated).differences
    assert [text for text in differences if expected in text], differences


def test_comparing_nothing_is_noticed() -> None:
    assert empty_kinds(compare_set(FileDescriptorSet())) == list(KINDS)
