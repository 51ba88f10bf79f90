/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any requests, one after another, through wire, service and store: each descriptor gets one
 * status that adds up, a few rules are counted as a model counts them, and what is encoded decodes
 * to the same.
 *
 * An input is a byte of settings, then requests: a byte for the time that passes before it, two for
 * its length, its bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/log.h"
#include "envoy/service/ratelimit/v3/rls.pb-c.h"
#include "rules/current.h"
#include "service/service.h"
#include "store/local_store.h"
#include "tests/fuzz/decide_model.h"
#include "tests/support/rules_text.h"
#include "wire/error_details.h"
#include "wire/request.h"
#include "wire/response.h"

#define MAX_DESCRIPTORS 16
#define MAX_ENTRIES 4
#define MAX_REQUESTS 64
#define MAX_COUNTERS 12 /* so few that the store gets full */
#define START_US INT64_C(1700000000123456)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const yaml =
    "domain: " MODEL_DOMAIN "\ndescriptors:\n" MODEL_RULES
    "  - {key: t, shadow_mode: true, rate_limit: {unit: minute, requests_per_unit: 1}}\n"
    "  - {key: u, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 1}}\n"
    "  - {key: u, value: v, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}\n"
    "  - {key: w, rate_limit: {unlimited: true}}\n"
    "  - {key: n, rate_limit: {name: n, unit: week, requests_per_unit: 4}}\n"
    "  - {key: r, rate_limit: {name: r, unit: year, requests_per_unit: 4294967295,\n"
    "     replaces: [{name: n}]}, metadata: {a: {b: [1, two, null]}, c: true}}\n"
    "  - {key: m, value: '*x*', rate_limit: {name: m, unit: month, requests_per_unit: 2,\n"
    "     replaces: [{name: r}]}, metadata: {a: {d: 1.5}, c: {e: f}}}\n"
    "  - {key: 'g*h', value_to_metric: true, detailed_metric: true,\n"
    "     rate_limit: {unit: second, requests_per_unit: 7}}\n";

struct bed {
    struct wr_settings settings;
    struct wr_service service;
    struct wr_backend *store;
    struct wr_arena arena; /* of all requests, as the model borrows from them */
    struct wr_question_frame frame;
    struct model model;
    bool is_model_lost; /* a failed call does not say what of it was charged */
};

static void never_wake(void *context)
{
    (void) context;
    WR_ASSERT(false);
}

static struct wr_current_rules *rules_in_force(void)
{
    static struct wr_current_rules current;
    static bool is_made;

    if (!is_made) {
        struct wr_rules *rules = wr_rules_of_text(yaml);

        wr_log_set_level(WR_LOG_ERROR);
        wr_current_rules_init(&current);
        wr_current_rules_publish(&current, &rules);
        is_made = true;
    }
    return &current;
}

static struct wr_metrics_block *metrics_block(void)
{
    static struct wr_metrics *metrics; /* made once, read by nobody */
    static struct wr_metrics_block *block;

    if (metrics == NULL) {
        metrics = wr_metrics_new();
        WR_ASSERT(metrics != NULL);
        block = wr_metrics_block_new(metrics);
        WR_ASSERT(block != NULL);
    }
    return block;
}

static struct wr_settings settings_of(uint8_t bits)
{
    static const enum wr_failure_mode modes[] = {WR_FAILURE_ALLOW, WR_FAILURE_DENY,
                                                 WR_FAILURE_ERROR, WR_FAILURE_ALLOW};

    return (struct wr_settings){
        .has_shadow_mode = (bits & 1) != 0,
        .has_quota_mode = (bits & 2) != 0,
        .has_response_headers = (bits & 4) == 0,
        .has_dynamic_metadata = (bits & 8) == 0,
        .limit_header = WR_STR("RateLimit-Limit"),
        .remaining_header = WR_STR("RateLimit-Remaining"),
        .reset_header = WR_STR("RateLimit-Reset"),
        .failure_mode = modes[bits >> 4 & 3],
    };
}

static void bed_init(struct bed *bed, uint8_t bits)
{
    const struct wr_local_store_options store = {.max_counters = MAX_COUNTERS, .n_stripes = 1};

    *bed = (struct bed){.settings = settings_of(bits)};
    wr_arena_init(&bed->arena, 4096);
    WR_ASSERT(wr_local_store_new(&store, &bed->store) == WR_OK);

    const struct wr_service_options options = {.settings = &bed->settings,
                                               .rules = rules_in_force(),
                                               .backend = bed->store,
                                               .n_workers = 1};

    WR_ASSERT(wr_service_init(&bed->service, &options) == WR_OK);
    bed->frame = (struct wr_question_frame){
        .arena = &bed->arena,
        .metrics = metrics_block(),
        .now = {.wall_us = START_US},
        .deadline_mono_us = INT64_MAX,
        .wake = never_wake,
    };
}

static void bed_fini(struct bed *bed)
{
    wr_service_fini(&bed->service);
    wr_backend_destroy(bed->store);
    wr_arena_fini(&bed->arena);
}

static void check_failure(struct bed *bed, const struct wr_failure *failure)
{
    struct wr_str details;

    WR_ASSERT(failure->status == WR_STATUS_INVALID_ARGUMENT ||
              failure->status == WR_STATUS_RESOURCE_EXHAUSTED ||
              failure->status == WR_STATUS_UNAVAILABLE);
    WR_ASSERT(failure->message.len > 0 && wr_str_is_utf8(failure->message));
    WR_ASSERT(wr_error_details_encode(failure, &bed->arena, &details));
}

static void check_status(const struct bed *bed, const struct wr_descriptor_status *status)
{
    WR_ASSERT(status->code != WR_CODE_UNKNOWN || bed->settings.failure_mode == WR_FAILURE_ERROR);
    if (!status->has_limit) {
        WR_ASSERT(status->limit_remaining == 0 ||
                  (status->limit_remaining == UINT32_MAX && status->code == WR_CODE_OK));
        return;
    }
    WR_ASSERT(status->limit_remaining <= status->requests_per_unit);
    WR_ASSERT(status->code != WR_CODE_OVER_LIMIT || status->limit_remaining == 0);
    WR_ASSERT(status->reset_us > 0 && status->reset_us <= wr_unit_length_us(status->unit));
}

static void check_response(struct bed *bed, const struct wr_request *request,
                           const struct wr_response *response)
{
    const bool is_enforced = !bed->settings.has_shadow_mode && !bed->settings.has_quota_mode;
    size_t n_over = 0;

    WR_ASSERT(response->n_statuses == request->n_descriptors);
    for (size_t i = 0; i < response->n_statuses; i++) {
        const struct wr_descriptor_status *const status = &response->statuses[i];
        const bool is_over = status->code == WR_CODE_OVER_LIMIT;

        check_status(bed, status);
        n_over += is_over;
        if (!bed->is_model_lost &&
            model_check(&bed->model, request, i, bed->frame.now.wall_us, status) && is_over &&
            is_enforced) {
            WR_ASSERT(response->overall_code == WR_CODE_OVER_LIMIT);
        }
    }
    WR_ASSERT(response->overall_code == WR_CODE_OK || n_over > 0);
}

static void
compare_status(const struct wr_descriptor_status *ours,
               const Envoy__Service__Ratelimit__V3__RateLimitResponse__DescriptorStatus *theirs)
{
    WR_ASSERT((int) theirs->code == (int) ours->code);
    WR_ASSERT(theirs->limit_remaining == ours->limit_remaining);
    WR_ASSERT((theirs->current_limit != NULL) == ours->has_limit);
    WR_ASSERT((theirs->duration_until_reset != NULL) == ours->has_limit);
    if (ours->has_limit) {
        WR_ASSERT(theirs->current_limit->requests_per_unit == ours->requests_per_unit);
        WR_ASSERT((int) theirs->current_limit->unit == (int) ours->unit);
        WR_ASSERT(wr_str_equal(wr_str_of(theirs->current_limit->name), ours->name));
        WR_ASSERT(theirs->duration_until_reset->seconds * 1000000 == ours->reset_us);
    }
}

static void check_encoded(const struct wr_response *response, struct wr_arena *arena)
{
    struct wr_str bytes;

    WR_ASSERT(wr_response_encode(response, arena, &bytes));

    Envoy__Service__Ratelimit__V3__RateLimitResponse *const theirs =
        envoy__service__ratelimit__v3__rate_limit_response__unpack(NULL, bytes.len,
                                                                   (const uint8_t *) bytes.ptr);

    WR_ASSERT(theirs != NULL);
    WR_ASSERT((int) theirs->overall_code == (int) response->overall_code);
    WR_ASSERT(theirs->n_statuses == response->n_statuses);
    WR_ASSERT(theirs->n_response_headers_to_add == response->n_headers);
    WR_ASSERT((theirs->dynamic_metadata != NULL) == (response->dynamic_metadata != NULL));
    for (size_t i = 0; i < response->n_statuses; i++) {
        compare_status(&response->statuses[i], theirs->statuses[i]);
    }
    envoy__service__ratelimit__v3__rate_limit_response__free_unpacked(theirs, NULL);
}

static void decide(struct bed *bed, struct wr_str message)
{
    static const struct wr_request_caps caps = {.max_descriptors = MAX_DESCRIPTORS,
                                                .max_entries = MAX_ENTRIES};
    struct wr_request *const request = wr_arena_calloc(&bed->arena, 1, sizeof *request);
    struct wr_question *question = NULL;
    struct wr_response response;
    struct wr_failure failure;

    WR_ASSERT(request != NULL);
    if (wr_request_decode(message, &caps, &bed->arena, request, &failure) != WR_OK ||
        wr_question_put(&bed->service, &bed->frame, request, &question, &failure) != WR_OK) {
        check_failure(bed, &failure);
        return;
    }
    WR_ASSERT(wr_question_is_answered(question));
    if (wr_question_answer(question, &response, &failure) == WR_OK) {
        check_response(bed, request, &response);
        check_encoded(&response, &bed->arena);
    } else {
        WR_ASSERT(bed->settings.failure_mode == WR_FAILURE_ERROR);
        check_failure(bed, &failure);
        bed->is_model_lost = true;
    }
    wr_question_end(question);
}

/* From a moment to more than the longest window. */
static int64_t pause_us(uint8_t byte)
{
    static const int64_t pauses[] = {0,        1,          400000,      1000000,
                                     60000000, 3600000000, 86400000000, 31536000000000};

    return pauses[byte % (sizeof pauses / sizeof pauses[0])];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bed bed;
    size_t at = 1;

    if (size == 0) {
        return 0;
    }
    bed_init(&bed, data[0]);
    for (size_t i = 0; i < MAX_REQUESTS && size - at >= 3; i++) {
        const size_t said = data[at + 1] | (size_t) data[at + 2] << 8;
        const size_t there = size - at - 3;
        const size_t len = said < there ? said : there;

        bed.frame.now.wall_us += pause_us(data[at]);
        bed.frame.now.mono_us += pause_us(data[at]);
        decide(&bed, (struct wr_str){(const char *) data + at + 3, len});
        at += 3 + len;
    }
    bed_fini(&bed);
    return 0;
}
