/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three decoders - by hand, protobuf-c, nanopb - read each generated message as what it was made
 * from.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pb_decode.h>
#include <stdbool.h>
#include <stdlib.h>

#include "envoy/service/ratelimit/v3/rls.pb-c.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "tests/unit/wire/bytes.h"
#include "tests/unit/wire/generated.h"
#include "wire/request.h"

#define MESSAGES 20000

typedef void (*decoder_fn)(struct wr_str message, struct wr_arena *arena,
                           struct wr_request *out_request);

static void expect_text(uint64_t seed, struct wr_str got, struct wr_str want)
{
    cr_assert(wr_str_equal(got, want), "seed %" PRIu64 ": text '%.*s' is not '%.*s'", seed,
              (int) got.len, got.ptr, (int) want.len, want.ptr);
}

static void expect_descriptor(uint64_t seed, const struct wr_descriptor *got,
                              const struct wr_descriptor *want)
{
    cr_assert_eq(got->n_entries, want->n_entries, "seed %" PRIu64, seed);
    for (size_t i = 0; i < want->n_entries; i++) {
        expect_text(seed, got->entries[i].key, want->entries[i].key);
        expect_text(seed, got->entries[i].value, want->entries[i].value);
    }
    cr_assert_eq(got->has_override, want->has_override, "seed %" PRIu64, seed);
    cr_assert_eq(got->override.requests_per_unit, want->override.requests_per_unit, "seed %" PRIu64,
                 seed);
    cr_assert_eq(got->override.unit, want->override.unit, "seed %" PRIu64, seed);
    cr_assert_eq(got->has_hits_addend, want->has_hits_addend, "seed %" PRIu64, seed);
    cr_assert_eq(got->hits_addend, want->hits_addend, "seed %" PRIu64, seed);
    cr_assert_eq(got->is_negative_hits, want->is_negative_hits, "seed %" PRIu64, seed);
}

static void expect_request(uint64_t seed, const struct wr_request *got,
                           const struct wr_request *want)
{
    expect_text(seed, got->domain, want->domain);
    cr_assert_eq(got->hits_addend, want->hits_addend, "seed %" PRIu64, seed);
    cr_assert_eq(got->n_descriptors, want->n_descriptors, "seed %" PRIu64, seed);
    for (size_t i = 0; i < want->n_descriptors; i++) {
        expect_descriptor(seed, &got->descriptors[i], &want->descriptors[i]);
    }
}

static void decode_by_hand(struct wr_str message, struct wr_arena *arena,
                           struct wr_request *out_request)
{
    const struct wr_request_caps caps = {.max_descriptors = GENERATED_DESCRIPTORS_MAX,
                                         .max_entries = GENERATED_ENTRIES_MAX};
    struct wr_failure failure = {.status = WR_STATUS_OK};

    cr_assert_eq(wr_request_decode(message, &caps, arena, out_request, &failure), WR_OK, "%.*s",
                 (int) failure.message.len, failure.message.ptr);
}

/* As a wr_request; `descriptors` and `entries` have room for all. */
static void copy_from_protobuf_c(const Envoy__Service__Ratelimit__V3__RateLimitRequest *message,
                                 struct wr_descriptor *descriptors, struct wr_entry *entries,
                                 struct wr_arena *arena, struct wr_request *out_request)
{
    *out_request = (struct wr_request){.descriptors = descriptors,
                                       .n_descriptors = message->n_descriptors,
                                       .hits_addend = message->hits_addend};
    cr_assert(wr_arena_copy(arena, wr_str_of(message->domain), &out_request->domain));
    for (size_t i = 0; i < message->n_descriptors; i++) {
        const Envoy__Extensions__Common__Ratelimit__V3__RateLimitDescriptor *const from =
            message->descriptors[i];
        struct wr_descriptor *const to = &descriptors[i];

        to->entries = entries;
        to->n_entries = from->n_entries;
        for (size_t k = 0; k < from->n_entries; k++, entries++) {
            cr_assert(wr_arena_copy(arena, wr_str_of(from->entries[k]->key), &entries->key));
            cr_assert(wr_arena_copy(arena, wr_str_of(from->entries[k]->value), &entries->value));
        }
        to->has_override = from->limit != NULL;
        if (to->has_override) {
            to->override.requests_per_unit = from->limit->requests_per_unit;
            to->override.unit = (int32_t) from->limit->unit;
        }
        to->has_hits_addend = from->hits_addend != NULL;
        to->hits_addend = to->has_hits_addend ? from->hits_addend->value : 0;
        to->is_negative_hits = from->is_negative_hits;
    }
}

static void decode_by_protobuf_c(struct wr_str message, struct wr_arena *arena,
                                 struct wr_request *out_request)
{
    Envoy__Service__Ratelimit__V3__RateLimitRequest *const unpacked =
        envoy__service__ratelimit__v3__rate_limit_request__unpack(NULL, message.len,
                                                                  (const uint8_t *) message.ptr);

    cr_assert_not_null(unpacked, "protobuf-c refuses");

    struct wr_descriptor *const descriptors =
        wr_arena_calloc(arena, GENERATED_DESCRIPTORS_MAX, sizeof *descriptors);
    struct wr_entry *const entries = wr_arena_calloc(
        arena, (size_t) GENERATED_DESCRIPTORS_MAX * GENERATED_ENTRIES_MAX, sizeof *entries);

    copy_from_protobuf_c(unpacked, descriptors, entries, arena, out_request);
    envoy__service__ratelimit__v3__rate_limit_request__free_unpacked(unpacked, NULL);
}

static void copy_from_nanopb(const envoy_extensions_common_ratelimit_v3_RateLimitDescriptor *from,
                             struct wr_entry *entries, struct wr_descriptor *to)
{
    to->entries = entries;
    to->n_entries = from->entries_count;
    for (size_t k = 0; k < from->entries_count; k++) {
        entries[k].key = wr_str_of(from->entries[k].key);
        entries[k].value = wr_str_of(from->entries[k].value);
    }
    to->has_override = from->has_limit;
    to->override.requests_per_unit = from->limit.requests_per_unit;
    to->override.unit = (int32_t) from->limit.unit;
    to->has_hits_addend = from->has_hits_addend;
    to->hits_addend = from->hits_addend.value;
    to->is_negative_hits = from->is_negative_hits;
}

static void decode_by_nanopb(struct wr_str message, struct wr_arena *arena,
                             struct wr_request *out_request)
{
    envoy_service_ratelimit_v3_RateLimitRequest *const decoded =
        wr_arena_calloc(arena, 1, sizeof *decoded);
    pb_istream_t stream = pb_istream_from_buffer((const pb_byte_t *) message.ptr, message.len);

    cr_assert(pb_decode(&stream, envoy_service_ratelimit_v3_RateLimitRequest_fields, decoded),
              "nanopb refuses: %s", PB_GET_ERROR(&stream));

    struct wr_descriptor *const descriptors =
        wr_arena_calloc(arena, GENERATED_DESCRIPTORS_MAX, sizeof *descriptors);

    for (size_t i = 0; i < decoded->descriptors_count; i++) {
        copy_from_nanopb(&decoded->descriptors[i],
                         wr_arena_calloc(arena, GENERATED_ENTRIES_MAX, sizeof(struct wr_entry)),
                         &descriptors[i]);
    }
    *out_request = (struct wr_request){.domain = wr_str_of(decoded->domain),
                                       .descriptors = descriptors,
                                       .n_descriptors = decoded->descriptors_count,
                                       .hits_addend = decoded->hits_addend};
}

static void expect_all_read_by(decoder_fn decode, bool splits_messages)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 1 << 20);
    for (uint64_t seed = 1; seed <= MESSAGES; seed++) {
        const struct generated made = generated_of_seed(seed, splits_messages, &arena);
        const struct wr_str message = bytes_copy(made.message);
        struct wr_request request = {.n_descriptors = 0};

        decode(message, &arena, &request);
        expect_request(seed, &request, &made.request);
        bytes_free(message);
        wr_arena_reset(&arena);
    }
    wr_arena_fini(&arena);
}

Test(request_agreement, the_hand_decoder_reads_every_generated_message_as_it_was_made)
{
    expect_all_read_by(decode_by_hand, true);
}

Test(request_agreement, protobuf_c_reads_every_generated_message_as_it_was_made)
{
    expect_all_read_by(decode_by_protobuf_c, false);
}

Test(request_agreement, nanopb_reads_every_generated_message_as_it_was_made)
{
    expect_all_read_by(decode_by_nanopb, true);
}
