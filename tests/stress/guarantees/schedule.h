/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of takes by which an adversary tries to get the most: at random, greedily (all that
 * fits, as soon as it does), in bursts around a boundary, and greedily with clocks that were read
 * too early. Whatever is asked, what remains must fit and no more, and where a wait was waited
 * for exactly, something must, and a moment before nothing.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_SCHEDULE_H
#define WR_TESTS_STRESS_GUARANTEES_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "limit/limit.h"

/* Steps enough for a limit of so many requests. */
#define WR_SCHEDULE_STEPS(requests) ((requests) > 20 ? 600U : 24U)

/* When a take is made: what its clock showed, and the latest that any has shown. */
struct wr_moment {
    int64_t read_us, latest_us;
};

/* Which schedule it is, so that it can be played again. */
struct wr_schedule_name {
    const char *subject;
    uint64_t seed;
    uint32_t number;
};

/* What schedules are played against: one counter, or several that stand and fall together. */
struct wr_prey {
    struct wr_schedule_name name;
    /* What remains; there is a look at the same moment before each take. */
    struct wr_verdict (*look)(struct wr_prey *prey, const struct wr_moment *moment);
    struct wr_verdict (*take)(struct wr_prey *prey, uint64_t hits, const struct wr_moment *moment);
    /* The end of the window that `now_us` is in, where there are windows. */
    int64_t (*end_of_window)(const struct wr_prey *prey, int64_t now_us);
    /* Changes the numbers of its limit; NULL when they stay. */
    void (*vary)(struct wr_prey *prey, uint64_t *random);
    int64_t length_us;
    uint32_t n_steps;     /* of a schedule */
    bool keeps_its_waits; /* what is told of a wait is true, if the limit stays */
};

enum wr_style {
    WR_STYLE_RANDOM,
    WR_STYLE_GREEDY,
    WR_STYLE_BOUNDARY,
    WR_STYLE_LATE,
    WR_STYLES,
};

/* Plays from `now_us` on and returns when it ended. */
int64_t wr_schedule_play(struct wr_prey *prey, enum wr_style style, uint64_t *random,
                         int64_t now_us);

/* Ends the program when it does not hold, and says of which schedule. */
void wr_schedule_check(const struct wr_schedule_name *name, bool holds, const char *what);

#endif
