/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search for schedules that break a promise. Schedule `number` of a seed is always the same one,
 * whatever else is searched. What breaks a promise ends the program, and is named.
 *
 * Threads: each search by one thread; that of the calendar needs the local time of the process.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_SEARCH_H
#define WR_TESTS_STRESS_GUARANTEES_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "tests/stress/guarantees/record.h"
#include "tests/stress/guarantees/subject.h"

/* By what rules have besides: nothing, and each of the traits of rule.h. */
#define WR_VARIANTS 4

extern const char *const wr_variants[WR_VARIANTS];

/* What the schedules of one variant came to; one with several traits is of several variants. */
struct wr_finding {
    uint32_t n_schedules;
    struct wr_worst in_window, in_instant;
};

struct wr_search {
    const char *name;
    const struct wr_subject *subject; /* NULL: several at once, as layers */
    struct wr_finding findings[WR_VARIANTS];
};

void wr_search_run(struct wr_search *search, uint64_t seed, uint32_t n_schedules);

#endif
