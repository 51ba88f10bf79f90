/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_class.h"

#include "store/slot_table.h"

const uint8_t wr_state_class_words[WR_STATE_CLASSES] = {
    [WR_STATE_WALL_2] = 2,
    [WR_STATE_WALL_6] = 6,
    [WR_STATE_MONO_2] = 2,
    [WR_STATE_MONO_3] = 3,
    [WR_STATE_MONO_6] = 6,
    [WR_STATE_MONO_SMALL] = WR_STATE_SMALL_WORDS,
    [WR_STATE_MONO_WIDE] = WR_STATE_WIDE_WORDS,
    [WR_STATE_MONO_BLOCK] = WR_SLOT_BLOCK_WORDS,
};

const uint8_t wr_state_class_places[WR_STATE_CLASSES] = {
    [WR_STATE_WALL_2] = 1,    [WR_STATE_WALL_6] = 1,     [WR_STATE_MONO_2] = 1,
    [WR_STATE_MONO_3] = 1,    [WR_STATE_MONO_6] = 1,     [WR_STATE_MONO_SMALL] = 4,
    [WR_STATE_MONO_WIDE] = 6, [WR_STATE_MONO_BLOCK] = 1,
};

#define ANY_ALIGNMENT(plain, warm)                                                                 \
    {                                                                                              \
        {(plain), (warm)}, {(plain), (warm)},                                                      \
        {                                                                                          \
            (plain), (warm)                                                                        \
        }                                                                                          \
    }

const uint8_t wr_state_classes[5][3][2] = {
    [WR_ALGORITHM_FIXED_WINDOW] =
        {
            [WR_ALIGN_EPOCH] = {WR_STATE_WALL_2, WR_STATE_WALL_6},
            [WR_ALIGN_FIRST_HIT] = {WR_STATE_MONO_2, WR_STATE_MONO_6},
            [WR_ALIGN_CALENDAR] = {WR_STATE_WALL_2, WR_STATE_WALL_6},
        },
    [WR_ALGORITHM_SLIDING_WINDOW] = ANY_ALIGNMENT(WR_STATE_MONO_3, WR_STATE_MONO_6),
    [WR_ALGORITHM_SLIDING_BUCKETS] = ANY_ALIGNMENT(WR_STATE_MONO_SMALL, WR_STATE_MONO_SMALL),
    [WR_ALGORITHM_SLIDING_LOG] = ANY_ALIGNMENT(WR_STATE_MONO_SMALL, WR_STATE_MONO_SMALL),
    [WR_ALGORITHM_TOKEN_BUCKET] = ANY_ALIGNMENT(WR_STATE_MONO_2, WR_STATE_MONO_6),
};
