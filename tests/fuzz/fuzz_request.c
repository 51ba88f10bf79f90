/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes into the request decoder: what it accepts lies within the message and the caps, what it
 * refuses it explains, and it agrees with protobuf-c where that accepts the message as well.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "envoy/service/ratelimit/v3/rls.pb-c.h"
#include "tests/fuzz/protobuf_c.h"
#include "wire/request.h"

#define MAX_DESCRIPTORS 8
#define MAX_ENTRIES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct wr_str text, struct wr_str message)
{
    WR_ASSERT(text.ptr != NULL);
    WR_ASSERT(wr_str_is_utf8(text));
    if (text.len > 0) {
        WR_ASSERT(text.ptr >= message.ptr && text.ptr < message.ptr + message.len);
        WR_ASSERT(text.len <= (size_t) (message.ptr + message.len - text.ptr));
    }
}

static void check_bounds(const struct wr_request *request, struct wr_str message)
{
    check_text(request->domain, message);
    WR_ASSERT(request->n_descriptors <= MAX_DESCRIPTORS);
    for (size_t i = 0; i < request->n_descriptors; i++) {
        const struct wr_descriptor *const descriptor = &request->descriptors[i];

        WR_ASSERT(descriptor->n_entries <= MAX_ENTRIES);
        WR_ASSERT(descriptor->has_hits_addend || descriptor->hits_addend == 0);
        for (size_t k = 0; k < descriptor->n_entries; k++) {
            check_text(descriptor->entries[k].key, message);
            check_text(descriptor->entries[k].value, message);
        }
    }
}

static void check_refusal(enum wr_err err, const struct wr_failure *failure)
{
    WR_ASSERT(err == WR_ERR_MALFORMED || err == WR_ERR_TOO_LARGE);
    WR_ASSERT(failure->status == (err == WR_ERR_MALFORMED ? WR_STATUS_INVALID_ARGUMENT
                                                          : WR_STATUS_RESOURCE_EXHAUSTED));
    WR_ASSERT(failure->message.len > 0 && wr_str_is_utf8(failure->message));
}

/* All but is_negative_hits, since protobuf-c reads a bool out of a field of any wire type. */
static void
compare_descriptor(const struct wr_descriptor *ours,
                   const Envoy__Extensions__Common__Ratelimit__V3__RateLimitDescriptor *theirs)
{
    WR_ASSERT(ours->n_entries == theirs->n_entries);
    for (size_t i = 0; i < ours->n_entries; i++) {
        WR_ASSERT(protobuf_c_agrees_on_text(ours->entries[i].key, theirs->entries[i]->key));
        WR_ASSERT(protobuf_c_agrees_on_text(ours->entries[i].value, theirs->entries[i]->value));
    }
    WR_ASSERT(ours->has_override == (theirs->limit != NULL));
    if (ours->has_override) {
        WR_ASSERT(protobuf_c_agrees_on_number(ours->override.requests_per_unit,
                                              theirs->limit->requests_per_unit));
        WR_ASSERT(protobuf_c_agrees_on_number((uint32_t) ours->override.unit,
                                              (uint32_t) theirs->limit->unit));
    }
    WR_ASSERT(ours->has_hits_addend == (theirs->hits_addend != NULL));
    if (ours->has_hits_addend) {
        WR_ASSERT(protobuf_c_agrees_on_number(ours->hits_addend, theirs->hits_addend->value));
    }
}

static void compare_with_protobuf_c(const struct wr_request *ours, struct wr_str message)
{
    Envoy__Service__Ratelimit__V3__RateLimitRequest *const theirs =
        envoy__service__ratelimit__v3__rate_limit_request__unpack(NULL, message.len,
                                                                  (const uint8_t *) message.ptr);

    if (theirs == NULL) {
        return;
    }
    WR_ASSERT(protobuf_c_agrees_on_text(ours->domain, theirs->domain));
    WR_ASSERT(ours->hits_addend == theirs->hits_addend);
    WR_ASSERT(ours->n_descriptors == theirs->n_descriptors);
    for (size_t i = 0; i < ours->n_descriptors; i++) {
        compare_descriptor(&ours->descriptors[i], theirs->descriptors[i]);
    }
    envoy__service__ratelimit__v3__rate_limit_request__free_unpacked(theirs, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wr_str message = {.ptr = (const char *) data, .len = size};
    const struct wr_request_caps caps = {.max_descriptors = MAX_DESCRIPTORS,
                                         .max_entries = MAX_ENTRIES};
    struct wr_arena arena;
    struct wr_request request;
    struct wr_failure failure = {.status = WR_STATUS_OK};

    wr_arena_init(&arena, 256);

    const enum wr_err err = wr_request_decode(message, &caps, &arena, &request, &failure);

    if (err == WR_OK) {
        check_bounds(&request, message);
        compare_with_protobuf_c(&request, message);
    } else {
        check_refusal(err, &failure);
    }
    wr_arena_fini(&arena);
    return 0;
}
