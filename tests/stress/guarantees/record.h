/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a counter was asked and admitted in the course of a schedule, and the most of it in any time
 * of a length, beside what was allowed: the bound of the largest limit that was in force meanwhile.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_RECORD_H
#define WR_TESTS_STRESS_GUARANTEES_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define WR_RECORD_MAX 2500

/* Of a limit, what bounds depend on. */
struct wr_allowance {
    uint64_t requests, burst;
};

/* Most hits that may pass. */
typedef uint64_t (*wr_bound_fn)(const struct wr_allowance *allowance);

struct wr_record {
    uint32_t n;
    struct wr_recorded {
        int64_t at_us; /* never falls */
        uint64_t hits; /* admitted */
        struct wr_allowance allowance;
    } takes[WR_RECORD_MAX];
};

/* The largest found, in parts of the limit and of the bound. */
struct wr_worst {
    double of_limit, of_bound;
};

/* What is more than there may be. */
struct wr_excess {
    uint64_t found, bound;
    struct wr_allowance allowance;
    int64_t until_us;
};

void wr_worst_add(struct wr_worst *worst, const struct wr_worst *other);

/* A take that comes too late for the record is not recorded. */
void wr_record_add(struct wr_record *record, int64_t at_us, uint64_t hits,
                   struct wr_allowance allowance);

/* Sums up every time of `length_us` that ends with a take. False with an excess, the first. */
bool wr_record_judge(const struct wr_record *record, int64_t length_us, wr_bound_fn bound,
                     struct wr_worst *worst, struct wr_excess *out_excess);

/* The same of every span, as `span_of` numbers them; one number is one stretch of time. */
typedef int64_t (*wr_span_fn)(void *context, int64_t at_us);

bool wr_record_judge_spans(const struct wr_record *record, wr_span_fn span_of, void *context,
                           wr_bound_fn bound, struct wr_worst *worst, struct wr_excess *out_excess);

#endif
