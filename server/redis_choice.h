/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis store as the options say: where it is, what its keys look like.
 *
 * Threads: main.
 */
#ifndef WR_REDIS_CHOICE_H
#define WR_REDIS_CHOICE_H

#include "store_choice.h"

struct wr_backend;

/* Makes the main store, or that of limits of a second. EX_OK, or another of sysexits.h after a
 * message. */
int wr_redis_choose(const struct wr_store_frame *frame, bool is_per_second,
                    struct wr_backend **out_backend);

#endif
