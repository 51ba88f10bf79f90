/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of counters: those of one class have states of about one size, which expire by one clock,
 * and share the tables of a stripe. A counter's class follows from what is part of its identity, so
 * it never changes, save that those that grow go from one of the last three to the next.
 *
 * Threads: pure functions.
 */
#ifndef WR_STORE_STATE_CLASS_H
#define WR_STORE_STATE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "limit/limit.h"

enum wr_state_class {
    WR_STATE_WALL_2, /* by the clock and the words that hold the state */
    WR_STATE_WALL_6,
    WR_STATE_MONO_2,
    WR_STATE_MONO_3,
    WR_STATE_MONO_6,
    WR_STATE_MONO_SMALL, /* of those that grow, while they are small: 60 buckets, 4 entries */
    WR_STATE_MONO_WIDE,  /* 60 buckets that count more, 8 entries */
    WR_STATE_MONO_BLOCK, /* of any size, each in a block of its own; see store/block.h */
};

#define WR_STATE_CLASSES 8

/* With the hash before them two cache lines, and three. */
#define WR_STATE_SMALL_WORDS 14
#define WR_STATE_WIDE_WORDS 22

extern const uint8_t wr_state_class_words[WR_STATE_CLASSES];

/* Of a share, without those of a block; see store/block.h. */
extern const uint8_t wr_state_class_places[WR_STATE_CLASSES];

/* By algorithm, alignment and whether it warms up; WR_STATE_MONO_SMALL for all that grow. */
extern const uint8_t wr_state_classes[5][3][2];

static inline enum wr_state_class wr_state_class_of(const struct wr_limit *limit)
{
    return (enum wr_state_class)
        wr_state_classes[limit->algorithm][limit->alignment][limit->warm_up_us != 0];
}

static inline bool wr_state_class_grows(enum wr_state_class class)
{
    return class >= WR_STATE_MONO_SMALL;
}

/* Of those that grow, the one for states of `n_words`. */
static inline enum wr_state_class wr_state_class_for(uint32_t n_words)
{
    if (n_words <= WR_STATE_SMALL_WORDS) {
        return WR_STATE_MONO_SMALL;
    }
    return n_words <= WR_STATE_WIDE_WORDS ? WR_STATE_MONO_WIDE : WR_STATE_MONO_BLOCK;
}

static inline bool wr_state_class_is_wall(enum wr_state_class class)
{
    return class <= WR_STATE_WALL_6;
}

/* The time that counters of the class expire by. */
static inline int64_t wr_state_class_time(enum wr_state_class class, const struct wr_now *now)
{
    return wr_state_class_is_wall(class) ? now->wall_us : now->mono_us;
}

#endif
