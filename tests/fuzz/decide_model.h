/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a few rules come to by hand: a list of counters, searched from its start, for comparison
 * with what the server decides. It knows fixed windows that count every hit.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_FUZZ_DECIDE_MODEL_H
#define WR_TESTS_FUZZ_DECIDE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limit/unit.h"
#include "service/request.h"
#include "service/response.h"

#define MODEL_COUNTERS 256

/* The domain and the rules that the model knows; a rule file may hold more, under other keys. */
#define MODEL_DOMAIN "d"
#define MODEL_RULES                                                                                \
    "  - {key: k, rate_limit: {unit: minute, requests_per_unit: 5}}\n"                             \
    "  - {key: s, value: 'x*', share_threshold: true,\n"                                           \
    "     rate_limit: {unit: second, requests_per_unit: 3}}\n"                                     \
    "  - {key: p, descriptors: [{key: q, rate_limit: {unit: hour, requests_per_unit: 2}}]}\n"      \
    "  - {key: z, rate_limit: {unit: hour, requests_per_unit: 0}}\n"

struct model_counter {
    bool is_shared; /* by all entries that a rule is for */
    enum wr_unit unit;
    const struct wr_entry *entries; /* borrowed */
    size_t n_entries;
    int64_t window; /* number of the one that `used` is about */
    uint64_t used;
};

struct model {
    struct model_counter counters[MODEL_COUNTERS];
    size_t n;
};

/*
 * Charges descriptor `index` of `request`, which must live as long as the model, and asserts that
 * `status` says what it came to. False when the model has no opinion on it.
 */
bool model_check(struct model *model, const struct wr_request *request, size_t index,
                 int64_t wall_us, const struct wr_descriptor_status *status);

#endif
