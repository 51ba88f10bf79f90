/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of all descriptors lie in one array, in order, since descriptors come one after the
 * other; it grows as they come, so that memory follows the message and not the caps. Descriptors
 * are pointed at their entries at the end, when the array stays where it is.
 */
#include "wire/request.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/request_fault.h"
#include "wire/scan.h"

#define FIRST_DESCRIPTORS 4
#define FIRST_ENTRIES 8

struct decoder {
    const struct wr_request_caps *caps;
    struct wr_arena *arena;
    struct wr_descriptor *descriptors; /* in arena */
    size_t n_descriptors, descriptors_room;
    struct wr_entry *entries; /* in arena */
    size_t n_entries, entries_room;
    struct wr_request_fault fault;
};

/* An array in `arena` of twice the room, at least `first`, that begins with the `n` items of the
 * old one; NULL when memory is out. */
static void *grow(struct wr_arena *arena, const void *items, size_t n, size_t first, size_t size,
                  size_t *room)
{
    const size_t wish = n == 0 ? first : 2 * n;
    void *const grown = wr_arena_alloc(arena, wish * size);

    if (grown == NULL) {
        return NULL;
    }
    if (n > 0) {
        memcpy(grown, items, n * size);
    }
    *room = wish;
    return grown;
}

static const unsigned char *decode_text(struct decoder *d, const unsigned char *at,
                                        const unsigned char *end, const char *name,
                                        struct wr_str *out_text)
{
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->fault.scan, at, end, &behind);
    if (at == NULL) {
        return wr_request_fault_in(&d->fault, name, WR_NO_INDEX);
    }

    const struct wr_str text = {.ptr = (const char *) at, .len = (size_t) (behind - at)};

    if (!wr_str_is_utf8(text)) {
        (void) wr_scan_fail(&d->fault.scan, WR_FAULT_UTF8, at);
        return wr_request_fault_in(&d->fault, name, WR_NO_INDEX);
    }
    *out_text = text;
    return behind;
}

/* RateLimitDescriptor.Entry, the bytes from `at` to `end`; so are all the messages below. */
static const unsigned char *decode_entry(struct decoder *d, const unsigned char *at,
                                         const unsigned char *end, struct wr_entry *entry)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;

        at = wr_scan_tag(&d->fault.scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        switch (tag) {
        case WR_TAG(1, WR_WIRE_BYTES):
            at = decode_text(d, at, end, "key", &entry->key);
            break;
        case WR_TAG(2, WR_WIRE_BYTES):
            at = decode_text(d, at, end, "value", &entry->value);
            break;
        default:
            at = wr_scan_skip(&d->fault.scan, at, end, tag);
            break;
        }
    }
    return at;
}

/* The next of `entries`, of which the descriptor being decoded has `n_before`. */
static const unsigned char *add_entry(struct decoder *d, const unsigned char *at,
                                      const unsigned char *end, size_t n_before)
{
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->fault.scan, at, end, &behind);
    if (at == NULL) {
        return wr_request_fault_in(&d->fault, "entries", n_before);
    }
    if (n_before == d->caps->max_entries) {
        return wr_request_fault_too_many(&d->fault, "entries", d->caps->max_entries);
    }
    if (d->n_entries == d->entries_room) {
        struct wr_entry *const grown = grow(d->arena, d->entries, d->n_entries, FIRST_ENTRIES,
                                            sizeof *d->entries, &d->entries_room);

        if (grown == NULL) {
            return wr_request_fault_no_memory(&d->fault);
        }
        d->entries = grown;
    }

    struct wr_entry *const entry = &d->entries[d->n_entries++];

    *entry = (struct wr_entry){.key = {.ptr = ""}, .value = {.ptr = ""}};
    return decode_entry(d, at, behind, entry) == NULL
               ? wr_request_fault_in(&d->fault, "entries", n_before)
               : behind;
}

/* RateLimitOverride; a second one is merged into the first. */
static const unsigned char *decode_override(struct decoder *d, const unsigned char *at,
                                            const unsigned char *end, struct wr_override *override)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;
        uint64_t number = 0;

        at = wr_scan_tag(&d->fault.scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        switch (tag) {
        case WR_TAG(1, WR_WIRE_VARINT):
            at = wr_scan_varint(&d->fault.scan, at, end, &number);
            override->requests_per_unit = (uint32_t) number;
            break;
        case WR_TAG(2, WR_WIRE_VARINT):
            at = wr_scan_varint(&d->fault.scan, at, end, &number);
            override->unit = (int32_t) (uint32_t) number;
            break;
        default:
            at = wr_scan_skip(&d->fault.scan, at, end, tag);
            break;
        }
    }
    return at;
}

/* google.protobuf.UInt64Value; a second one is merged into the first. */
static const unsigned char *decode_wrapper(struct decoder *d, const unsigned char *at,
                                           const unsigned char *end, uint64_t *value)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;

        at = wr_scan_tag(&d->fault.scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        at = tag == WR_TAG(1, WR_WIRE_VARINT) ? wr_scan_varint(&d->fault.scan, at, end, value)
                                              : wr_scan_skip(&d->fault.scan, at, end, tag);
    }
    return at;
}

static const unsigned char *decode_limit(struct decoder *d, const unsigned char *at,
                                         const unsigned char *end, struct wr_descriptor *descriptor)
{
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->fault.scan, at, end, &behind);
    if (at == NULL || decode_override(d, at, behind, &descriptor->override) == NULL) {
        return wr_request_fault_in(&d->fault, "limit", WR_NO_INDEX);
    }
    descriptor->has_override = true;
    return behind;
}

static const unsigned char *decode_hits(struct decoder *d, const unsigned char *at,
                                        const unsigned char *end, struct wr_descriptor *descriptor)
{
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->fault.scan, at, end, &behind);
    if (at == NULL || decode_wrapper(d, at, behind, &descriptor->hits_addend) == NULL) {
        return wr_request_fault_in(&d->fault, "hits_addend", WR_NO_INDEX);
    }
    descriptor->has_hits_addend = true;
    return behind;
}

/* RateLimitDescriptor. */
static const unsigned char *decode_descriptor(struct decoder *d, const unsigned char *at,
                                              const unsigned char *end,
                                              struct wr_descriptor *descriptor)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;
        uint64_t number = 0;

        at = wr_scan_tag(&d->fault.scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        switch (tag) {
        case WR_TAG(1, WR_WIRE_BYTES):
            at = add_entry(d, at, end, descriptor->n_entries);
            descriptor->n_entries++;
            break;
        case WR_TAG(2, WR_WIRE_BYTES):
            at = decode_limit(d, at, end, descriptor);
            break;
        case WR_TAG(3, WR_WIRE_BYTES):
            at = decode_hits(d, at, end, descriptor);
            break;
        case WR_TAG(4, WR_WIRE_VARINT):
            at = wr_scan_varint(&d->fault.scan, at, end, &number);
            descriptor->is_negative_hits = number != 0;
            break;
        default:
            at = wr_scan_skip(&d->fault.scan, at, end, tag);
            break;
        }
    }
    return at;
}

static const unsigned char *add_descriptor(struct decoder *d, const unsigned char *at,
                                           const unsigned char *end)
{
    const size_t index = d->n_descriptors;
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->fault.scan, at, end, &behind);
    if (at == NULL) {
        return wr_request_fault_in(&d->fault, "descriptors", index);
    }
    if (index == d->caps->max_descriptors) {
        return wr_request_fault_too_many(&d->fault, "descriptors", d->caps->max_descriptors);
    }
    if (index == d->descriptors_room) {
        struct wr_descriptor *const grown = grow(d->arena, d->descriptors, index, FIRST_DESCRIPTORS,
                                                 sizeof *d->descriptors, &d->descriptors_room);

        if (grown == NULL) {
            return wr_request_fault_no_memory(&d->fault);
        }
        d->descriptors = grown;
    }

    struct wr_descriptor *const descriptor = &d->descriptors[d->n_descriptors++];

    *descriptor = (struct wr_descriptor){.n_entries = 0};
    return decode_descriptor(d, at, behind, descriptor) == NULL
               ? wr_request_fault_in(&d->fault, "descriptors", index)
               : behind;
}

/* RateLimitRequest. */
static const unsigned char *decode_request(struct decoder *d, const unsigned char *at,
                                           const unsigned char *end, struct wr_request *request)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;
        uint64_t number = 0;

        at = wr_scan_tag(&d->fault.scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        switch (tag) {
        case WR_TAG(1, WR_WIRE_BYTES):
            at = decode_text(d, at, end, "domain", &request->domain);
            break;
        case WR_TAG(2, WR_WIRE_BYTES):
            at = add_descriptor(d, at, end);
            break;
        case WR_TAG(3, WR_WIRE_VARINT):
            at = wr_scan_varint(&d->fault.scan, at, end, &number);
            request->hits_addend = (uint32_t) number;
            break;
        default:
            at = wr_scan_skip(&d->fault.scan, at, end, tag);
            break;
        }
    }
    return at;
}

static void point_at_entries(struct decoder *d)
{
    const struct wr_entry *next = d->entries;

    if (d->n_entries == 0) {
        return;
    }
    for (size_t i = 0; i < d->n_descriptors; i++) {
        d->descriptors[i].entries = next;
        next += d->descriptors[i].n_entries;
    }
}

enum wr_err wr_request_decode(struct wr_str message, const struct wr_request_caps *caps,
                              struct wr_arena *arena, struct wr_request *out_request,
                              struct wr_failure *out_failure)
{
    const unsigned char *const begin = (const unsigned char *) (message.len > 0 ? message.ptr : "");
    struct wr_request request = {.domain = {.ptr = ""}};
    struct decoder d;

    /* Clearing it as a whole, with the path of its fault, would take a tenth of the time. */
    d.caps = caps;
    d.arena = arena;
    d.n_descriptors = d.descriptors_room = d.n_entries = d.entries_room = 0;
    d.descriptors = NULL;
    d.entries = NULL;
    d.fault.scan.fault = WR_FAULT_NONE;
    d.fault.err = WR_OK;
    d.fault.n_path = 0;

    if (decode_request(&d, begin, begin + message.len, &request) == NULL) {
        return wr_request_fault_explain(&d.fault, begin, arena, out_failure);
    }
    point_at_entries(&d);
    request.descriptors = d.descriptors;
    request.n_descriptors = d.n_descriptors;
    *out_request = request;
    return WR_OK;
}
