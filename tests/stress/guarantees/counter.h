/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One counter as prey of schedules: the pure functions of a kind on a state, without a store.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_COUNTER_H
#define WR_TESTS_STRESS_GUARANTEES_COUNTER_H

#include "limit/algorithm.h"
#include "tests/stress/guarantees/climb.h"
#include "tests/stress/guarantees/record.h"
#include "tests/stress/guarantees/rule.h"
#include "tests/stress/guarantees/schedule.h"

#define WR_PREY_WORDS (8 + 2 * WR_SLIDING_LOG_MAX)

struct wr_prey_counter {
    struct wr_prey prey;
    struct wr_drawn_rule rule;
    struct wr_limit limit;
    const struct wr_calendar *calendar; /* borrowed */
    struct wr_climb climb;
    struct wr_record record;
    uint32_t n_words; /* of the state, in use */
    uint64_t state[WR_PREY_WORDS];
};

/* A fresh counter by `rule`; what `counter` held before is forgotten. It begins as all zero. */
void wr_prey_counter_init(struct wr_prey_counter *counter, const struct wr_schedule_name *name,
                          const struct wr_drawn_rule *rule, const struct wr_calendar *calendar);

/* What is enforced while `enforced` of the requests of `limit` are. */
struct wr_allowance wr_prey_allowance(const struct wr_limit *limit, uint64_t enforced);

/* The end of the window of `limit`, where it has windows. */
int64_t wr_prey_end_of_window(const struct wr_limit *limit, int64_t now_us);

#endif
