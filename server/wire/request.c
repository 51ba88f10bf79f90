/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of all descriptors lie in one array, in order, since descriptors come one after the
 * other; it grows as they come, so that memory follows the message and not the caps. Descriptors
 * are pointed at their entries at the end, when the array stays where it is.
 */
#include "wire/request.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "wire/scan.h"

#define FIRST_DESCRIPTORS 4
#define FIRST_ENTRIES 8
#define NO_INDEX SIZE_MAX
#define PATH_MAX_STEPS 3
#define PATH_SIZE 96
#define MESSAGE_SIZE 192

/* One name in the path of a field, such as `descriptors[2]`. */
struct step {
    const char *name;
    size_t index; /* NO_INDEX: none */
};

struct decoder {
    const struct wr_request_caps *caps;
    struct wr_arena *arena;
    struct wr_descriptor *descriptors; /* in arena */
    size_t n_descriptors, descriptors_room;
    struct wr_entry *entries; /* in arena */
    size_t n_entries, entries_room;

    /* Set on failure; the path is gathered from the inside out. */
    struct wr_scan scan;
    enum wr_err err; /* WR_OK: the fault of scan */
    size_t cap;      /* that was passed, with WR_ERR_TOO_LARGE */
    struct step path[PATH_MAX_STEPS];
    size_t n_path;
};

/* Returns NULL for the caller to return in its turn, as in wr_scan_fail. */
static const unsigned char *fail_in(struct decoder *d, const char *name, size_t index)
{
    d->path[d->n_path++] = (struct step){.name = name, .index = index};
    return NULL;
}

static const unsigned char *fail_too_many(struct decoder *d, const char *name, size_t cap)
{
    d->err = WR_ERR_TOO_LARGE;
    d->cap = cap;
    return fail_in(d, name, NO_INDEX);
}

static const unsigned char *fail_no_memory(struct decoder *d)
{
    d->err = WR_ERR_NO_MEMORY;
    return NULL;
}

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

    at = wr_scan_length(&d->scan, at, end, &behind);
    if (at == NULL) {
        return fail_in(d, name, NO_INDEX);
    }

    const struct wr_str text = {.ptr = (const char *) at, .len = (size_t) (behind - at)};

    if (!wr_str_is_utf8(text)) {
        (void) wr_scan_fail(&d->scan, WR_FAULT_UTF8, at);
        return fail_in(d, name, NO_INDEX);
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

        at = wr_scan_tag(&d->scan, at, end, &tag);
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
            at = wr_scan_skip(&d->scan, at, end, tag);
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

    at = wr_scan_length(&d->scan, at, end, &behind);
    if (at == NULL) {
        return fail_in(d, "entries", n_before);
    }
    if (n_before == d->caps->max_entries) {
        return fail_too_many(d, "entries", d->caps->max_entries);
    }
    if (d->n_entries == d->entries_room) {
        struct wr_entry *const grown = grow(d->arena, d->entries, d->n_entries, FIRST_ENTRIES,
                                            sizeof *d->entries, &d->entries_room);

        if (grown == NULL) {
            return fail_no_memory(d);
        }
        d->entries = grown;
    }

    struct wr_entry *const entry = &d->entries[d->n_entries++];

    *entry = (struct wr_entry){.key = {.ptr = ""}, .value = {.ptr = ""}};
    return decode_entry(d, at, behind, entry) == NULL ? fail_in(d, "entries", n_before) : behind;
}

/* RateLimitOverride; a second one is merged into the first. */
static const unsigned char *decode_override(struct decoder *d, const unsigned char *at,
                                            const unsigned char *end, struct wr_override *override)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;
        uint64_t number = 0;

        at = wr_scan_tag(&d->scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        switch (tag) {
        case WR_TAG(1, WR_WIRE_VARINT):
            at = wr_scan_varint(&d->scan, at, end, &number);
            override->requests_per_unit = (uint32_t) number;
            break;
        case WR_TAG(2, WR_WIRE_VARINT):
            at = wr_scan_varint(&d->scan, at, end, &number);
            override->unit = (int32_t) (uint32_t) number;
            break;
        default:
            at = wr_scan_skip(&d->scan, at, end, tag);
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

        at = wr_scan_tag(&d->scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
        at = tag == WR_TAG(1, WR_WIRE_VARINT) ? wr_scan_varint(&d->scan, at, end, value)
                                              : wr_scan_skip(&d->scan, at, end, tag);
    }
    return at;
}

static const unsigned char *decode_limit(struct decoder *d, const unsigned char *at,
                                         const unsigned char *end, struct wr_descriptor *descriptor)
{
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->scan, at, end, &behind);
    if (at == NULL || decode_override(d, at, behind, &descriptor->override) == NULL) {
        return fail_in(d, "limit", NO_INDEX);
    }
    descriptor->has_override = true;
    return behind;
}

static const unsigned char *decode_hits(struct decoder *d, const unsigned char *at,
                                        const unsigned char *end, struct wr_descriptor *descriptor)
{
    const unsigned char *behind = NULL;

    at = wr_scan_length(&d->scan, at, end, &behind);
    if (at == NULL || decode_wrapper(d, at, behind, &descriptor->hits_addend) == NULL) {
        return fail_in(d, "hits_addend", NO_INDEX);
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

        at = wr_scan_tag(&d->scan, at, end, &tag);
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
            at = wr_scan_varint(&d->scan, at, end, &number);
            descriptor->is_negative_hits = number != 0;
            break;
        default:
            at = wr_scan_skip(&d->scan, at, end, tag);
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

    at = wr_scan_length(&d->scan, at, end, &behind);
    if (at == NULL) {
        return fail_in(d, "descriptors", index);
    }
    if (index == d->caps->max_descriptors) {
        return fail_too_many(d, "descriptors", d->caps->max_descriptors);
    }
    if (index == d->descriptors_room) {
        struct wr_descriptor *const grown = grow(d->arena, d->descriptors, index, FIRST_DESCRIPTORS,
                                                 sizeof *d->descriptors, &d->descriptors_room);

        if (grown == NULL) {
            return fail_no_memory(d);
        }
        d->descriptors = grown;
    }

    struct wr_descriptor *const descriptor = &d->descriptors[d->n_descriptors++];

    *descriptor = (struct wr_descriptor){.n_entries = 0};
    return decode_descriptor(d, at, behind, descriptor) == NULL ? fail_in(d, "descriptors", index)
                                                                : behind;
}

/* RateLimitRequest. */
static const unsigned char *decode_request(struct decoder *d, const unsigned char *at,
                                           const unsigned char *end, struct wr_request *request)
{
    while (at != NULL && at < end) {
        uint32_t tag = 0;
        uint64_t number = 0;

        at = wr_scan_tag(&d->scan, at, end, &tag);
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
            at = wr_scan_varint(&d->scan, at, end, &number);
            request->hits_addend = (uint32_t) number;
            break;
        default:
            at = wr_scan_skip(&d->scan, at, end, tag);
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

/* The path, outermost name first; cut when it does not fit, which it does. */
static size_t write_path(const struct decoder *d, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = d->n_path; i-- > 0 && used < size;) {
        const struct step *const step = &d->path[i];
        const char *const dot = used > 0 ? "." : "";
        const int n =
            step->index == NO_INDEX
                ? snprintf(text + used, size - used, "%s%s", dot, step->name)
                : snprintf(text + used, size - used, "%s%s[%zu]", dot, step->name, step->index);

        used += n > 0 ? (size_t) n : 0;
    }
    return used < size ? used : size - 1;
}

/* What went wrong, for people; no value of the request is repeated. */
static void describe(const struct decoder *d, const unsigned char *begin,
                     struct wr_failure *out_failure)
{
    char path[PATH_SIZE], text[MESSAGE_SIZE];
    const size_t path_len = write_path(d, path, sizeof path);
    const char *const subject = path_len > 0 ? path : "the request";
    const int n =
        d->err == WR_ERR_TOO_LARGE
            ? snprintf(text, sizeof text, "%s has more than %zu elements", subject, d->cap)
            : snprintf(text, sizeof text, "%s %s (byte %zu of the request)", subject,
                       wr_fault_text(d->scan.fault), (size_t) (d->scan.at - begin));
    const size_t len = n > 0 && (size_t) n < sizeof text ? (size_t) n : 0;

    (void) wr_arena_copy(d->arena, (struct wr_str){.ptr = text, .len = len}, &out_failure->message);
    (void) wr_arena_copy(d->arena, (struct wr_str){.ptr = path, .len = path_len},
                         &out_failure->field);
}

static enum wr_err refuse(const struct decoder *d, const unsigned char *begin,
                          struct wr_failure *out_failure)
{
    static const struct wr_failure no_memory = {.status = WR_STATUS_RESOURCE_EXHAUSTED,
                                                .message = WR_STR("out of memory")};
    static const struct wr_failure too_large = {.status = WR_STATUS_RESOURCE_EXHAUSTED,
                                                .message = WR_STR("the request is too large")};
    static const struct wr_failure malformed = {.status = WR_STATUS_INVALID_ARGUMENT,
                                                .message = WR_STR("the request is malformed")};

    if (d->err == WR_ERR_NO_MEMORY) {
        *out_failure = no_memory;
        return WR_ERR_NO_MEMORY;
    }
    *out_failure = d->err == WR_ERR_TOO_LARGE ? too_large : malformed;
    describe(d, begin, out_failure);
    return d->err == WR_ERR_TOO_LARGE ? WR_ERR_TOO_LARGE : WR_ERR_MALFORMED;
}

enum wr_err wr_request_decode(struct wr_str message, const struct wr_request_caps *caps,
                              struct wr_arena *arena, struct wr_request *out_request,
                              struct wr_failure *out_failure)
{
    const unsigned char *const begin = (const unsigned char *) (message.len > 0 ? message.ptr : "");
    struct wr_request request = {.domain = {.ptr = ""}};
    struct decoder d;

    d.caps = caps;
    d.arena = arena;
    d.n_descriptors = d.descriptors_room = d.n_entries = d.entries_room = 0;
    d.descriptors = NULL;
    d.entries = NULL;
    d.scan.fault = WR_FAULT_NONE;
    d.err = WR_OK;
    d.n_path = 0;
    if (decode_request(&d, begin, begin + message.len, &request) == NULL) {
        return refuse(&d, begin, out_failure);
    }
    point_at_entries(&d);
    request.descriptors = d.descriptors;
    request.n_descriptors = d.n_descriptors;
    *out_request = request;
    return WR_OK;
}
