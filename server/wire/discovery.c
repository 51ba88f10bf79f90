/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/discovery.h"

#include <string.h>

#include "wire/fields.h"
#include "wire/message.h"

/* The fields of DiscoveryRequest. */
#define REQUEST_VERSION 1
#define REQUEST_NODE 2
#define REQUEST_TYPE_URL 4
#define REQUEST_NONCE 5
#define REQUEST_ERROR 6
/* envoy.config.core.v3.Node. */
#define NODE_ID 1
#define NODE_METADATA 3
#define NODE_USER_AGENT 6
/* google.protobuf.Struct, its entries, Value. */
#define STRUCT_FIELDS 1
#define ENTRY_KEY 1
#define ENTRY_VALUE 2
#define VALUE_STRING 3
/* google.rpc.Status. */
#define STATUS_CODE 1
#define STATUS_MESSAGE 2
#define CODE_INVALID_ARGUMENT 3
/* DiscoveryResponse. */
#define RESPONSE_VERSION WR_TAG(1, WR_WIRE_BYTES)
#define RESPONSE_RESOURCES WR_TAG(2, WR_WIRE_BYTES)
#define RESPONSE_TYPE_URL WR_TAG(4, WR_WIRE_BYTES)
#define RESPONSE_NONCE WR_TAG(5, WR_WIRE_BYTES)
/* google.protobuf.Any. */
#define ANY_TYPE_URL WR_TAG(1, WR_WIRE_BYTES)
#define ANY_VALUE WR_TAG(2, WR_WIRE_BYTES)

#define FIELD_HEAD_MAX 15 /* bytes of a tag and a length */

/* A message being written. What does not fit because memory is out is left out. */
struct out {
    struct wr_arena *arena;
    char *bytes;
    size_t len, room;
    bool lacks_memory;
};

static void put_bytes(struct out *out, const void *bytes, size_t len)
{
    if (out->len + len > out->room) {
        const size_t room = 2 * out->room + len + FIELD_HEAD_MAX;
        char *const grown = wr_arena_alloc(out->arena, room);

        if (grown == NULL) {
            out->lacks_memory = true;
            return;
        }
        if (out->len > 0) {
            memcpy(grown, out->bytes, out->len);
        }
        out->bytes = grown;
        out->room = room;
    }
    if (len > 0) {
        memcpy(out->bytes + out->len, bytes, len);
        out->len += len;
    }
}

static void put_varint(struct out *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    do {
        bytes[n] = (unsigned char) ((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        n++;
        value >>= 7;
    } while (value > 0);
    put_bytes(out, bytes, n);
}

/* A field of bytes; an empty one is left out, as proto3 has it. */
static void put_field(struct out *out, uint32_t number, struct wr_str bytes)
{
    if (bytes.len > 0) {
        put_varint(out, WR_TAG(number, WR_WIRE_BYTES));
        put_varint(out, bytes.len);
        put_bytes(out, bytes.ptr, bytes.len);
    }
}

static void put_text(struct out *out, uint32_t number, struct wr_str text)
{
    const char *const clean = wr_message_text(out->arena, text);

    if (clean == NULL) {
        out->lacks_memory = true;
        return;
    }
    put_field(out, number, (struct wr_str){.ptr = clean, .len = text.len});
}

static void put_message(struct out *out, uint32_t number, const struct out *inner)
{
    out->lacks_memory = out->lacks_memory || inner->lacks_memory;
    put_field(out, number, (struct wr_str){.ptr = inner->bytes, .len = inner->len});
}

static void put_label(struct out *metadata, const struct wr_discovery_label *label)
{
    struct out value = {.arena = metadata->arena};
    struct out entry = {.arena = metadata->arena};

    put_text(&value, VALUE_STRING, label->value);
    if (label->value.len == 0) { /* else it would have no kind */
        put_varint(&value, WR_TAG(VALUE_STRING, WR_WIRE_BYTES));
        put_varint(&value, 0);
    }
    put_text(&entry, ENTRY_KEY, label->name);
    put_message(&entry, ENTRY_VALUE, &value);
    put_message(metadata, STRUCT_FIELDS, &entry);
}

static void put_node(struct out *out, const struct wr_discovery_node *node)
{
    struct out metadata = {.arena = out->arena};
    struct out inner = {.arena = out->arena};

    for (size_t i = 0; i < node->n_labels; i++) {
        put_label(&metadata, &node->labels[i]);
    }
    put_text(&inner, NODE_ID, node->id);
    put_message(&inner, NODE_METADATA, &metadata);
    put_text(&inner, NODE_USER_AGENT, (struct wr_str) WR_STR("weir"));
    put_message(out, REQUEST_NODE, &inner);
}

static void put_error(struct out *out, struct wr_str error)
{
    struct out status = {.arena = out->arena};

    put_varint(&status, WR_TAG(STATUS_CODE, WR_WIRE_VARINT));
    put_varint(&status, CODE_INVALID_ARGUMENT);
    put_text(&status, STATUS_MESSAGE, error);
    put_message(out, REQUEST_ERROR, &status);
}

bool wr_discovery_request_encode(const struct wr_discovery_request *request, struct wr_arena *arena,
                                 struct wr_str *out_message)
{
    struct out out = {.arena = arena};

    put_text(&out, REQUEST_VERSION, request->version);
    put_node(&out, request->node);
    put_text(&out, REQUEST_TYPE_URL, request->type_url);
    put_text(&out, REQUEST_NONCE, request->nonce);
    if (request->error.len > 0) {
        put_error(&out, request->error);
    }
    if (out.lacks_memory) {
        return false;
    }
    *out_message = (struct wr_str){.ptr = out.bytes, .len = out.len};
    return true;
}

static struct wr_str read_text(struct wr_fields *fields)
{
    const struct wr_str text = wr_fields_bytes(fields);

    if (!wr_str_is_utf8(text)) {
        (void) wr_scan_fail(fields->scan, WR_FAULT_UTF8, (const unsigned char *) text.ptr);
    }
    return text;
}

static struct wr_discovery_resource read_resource(struct wr_scan *scan, struct wr_str message)
{
    struct wr_fields fields = wr_fields_of(scan, message);
    struct wr_discovery_resource resource = {.type_url = {.ptr = ""}, .message = {.ptr = ""}};

    while (wr_fields_next(&fields)) {
        if (fields.tag == ANY_TYPE_URL) {
            resource.type_url = read_text(&fields);
        } else if (fields.tag == ANY_VALUE) {
            resource.message = wr_fields_bytes(&fields);
        } else {
            wr_fields_skip(&fields);
        }
    }
    return resource;
}

enum wr_err wr_discovery_response_decode(struct wr_str message, struct wr_arena *arena,
                                         struct wr_scan *scan,
                                         struct wr_discovery_response *out_response)
{
    struct wr_fields fields = wr_fields_of(scan, message);
    const size_t n_all = wr_fields_count(fields, RESPONSE_RESOURCES);
    struct wr_discovery_resource *const resources =
        n_all <= WR_DISCOVERY_RESOURCES_MAX ? wr_arena_calloc(arena, n_all, sizeof *resources)
                                            : NULL;
    struct wr_discovery_response response = {
        .version = {.ptr = ""}, .nonce = {.ptr = ""}, .type_url = {.ptr = ""}};

    if (resources == NULL) {
        return n_all > WR_DISCOVERY_RESOURCES_MAX ? WR_ERR_TOO_LARGE : WR_ERR_NO_MEMORY;
    }
    while (wr_fields_next(&fields)) {
        switch (fields.tag) {
        case RESPONSE_VERSION:
            response.version = read_text(&fields);
            break;
        case RESPONSE_RESOURCES:
            resources[response.n_resources++] = read_resource(scan, wr_fields_bytes(&fields));
            break;
        case RESPONSE_TYPE_URL:
            response.type_url = read_text(&fields);
            break;
        case RESPONSE_NONCE:
            response.nonce = read_text(&fields);
            break;
        default:
            wr_fields_skip(&fields);
            break;
        }
    }
    if (scan->fault != WR_FAULT_NONE) {
        return WR_ERR_MALFORMED;
    }
    response.resources = resources;
    *out_response = response;
    return WR_OK;
}
