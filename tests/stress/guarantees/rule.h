/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random rule: the words of a limit as somebody writes them, which the code that reads rules
 * makes a limit of. What headroom leaves is reckoned here, too, and must be the same.
 *
 * Threads: pure functions.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_RULE_H
#define WR_TESTS_STRESS_GUARANTEES_RULE_H

#include <stdint.h>

#include "limit/limit.h"
#include "limit/unit.h"

/* What a rule has besides number and window; bits. */
enum wr_rule_trait {
    WR_RULE_VARIES = 1, /* its numbers change while it is in force */
    WR_RULE_WARMS_UP = 2,
    WR_RULE_HAS_HEADROOM = 4,
};

struct wr_drawn_rule {
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    unsigned traits;
    enum wr_unit unit;  /* of a calendar's window */
    int64_t length_us;  /* of any other */
    uint32_t requests;  /* as written */
    uint32_t headroom;  /* in thousandths */
    uint32_t burst;     /* of a token bucket */
    uint32_t n_buckets; /* of sliding buckets */
    int64_t warm_up_us;
    uint32_t warm_up_start; /* in thousandths */
};

/* Between `least` and `most`. */
int64_t wr_draw_between(uint64_t *random, int64_t least, int64_t most);

/* `unit` is of no account but for a calendar. */
struct wr_drawn_rule wr_drawn_rule(uint64_t *random, enum wr_algorithm algorithm,
                                   enum wr_alignment alignment, unsigned traits, enum wr_unit unit);

/* Other numbers for the same counter. */
void wr_drawn_rule_vary(struct wr_drawn_rule *rule, uint64_t *random);

/* Without a calendar. Counts what is admitted. */
struct wr_limit wr_drawn_rule_limit(const struct wr_drawn_rule *rule);

#endif
