# SPDX-License-Identifier: Apache-2.0
"""The messages in which a control plane sends rules, ratelimit.config.ratelimit.v3.

No Python package has them, so they are written down here as envoyproxy/go-control-plane has them
(ratelimit/config/ratelimit/v3/rls_conf.proto), apart from proto/, which is compared with this."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

PACKAGE = "ratelimit.config.ratelimit.v3"
TYPE_URL = f"type.googleapis.com/{PACKAGE}.RateLimitConfig"
MESSAGES = {
    "RateLimitConfig": ("string name 1", "string domain 2", "RateLimitDescriptor* descriptors 3"),
    "RateLimitDescriptor": (
        "string key 1", "string value 2", "RateLimitPolicy rate_limit 3", "RateLimitDescriptor* descriptors 4",
        "bool shadow_mode 5", "bool detailed_metric 6", "bool quota_mode 7", "google.protobuf.Struct metadata 8"),
    "RateLimitPolicy": ("RateLimitUnit unit 1", "uint32 requests_per_unit 2", "bool unlimited 3", "string name 4",
                        "RateLimitReplace* replaces 5"),
    "RateLimitReplace": ("string name 1",),
}
UNITS = ("UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK")


def add_field(message, text):
    kind, name, number = text.split()
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    if kind in ("string", "bool", "uint32"):
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    else:
        field.type = field.TYPE_ENUM if kind == "RateLimitUnit" else field.TYPE_MESSAGE
        field.type_name = f".{kind}" if "." in kind else f".{PACKAGE}.{kind}"


def make_file():
    file = descriptor_pb2.FileDescriptorProto(name="ratelimit/config/ratelimit/v3/rls_conf.proto", package=PACKAGE,
                                              syntax="proto3", dependency=["google/protobuf/struct.proto"])
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields:
            add_field(message, text)
    unit = file.enum_type.add(name="RateLimitUnit")
    for number, name in enumerate(UNITS):
        unit.value.add(name=name, number=number)
    return file


FILE = make_file()
POOL = descriptor_pool.DescriptorPool()
POOL.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
POOL.Add(FILE)
RateLimitConfig = message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"{PACKAGE}.RateLimitConfig"))
