/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of a server, seen from here: how far it is from ours, between two bounds that each
 * exchange narrows.
 *
 * Threads: plain values of one owner.
 */
#ifndef WR_STORE_REDIS_TIME_H
#define WR_STORE_REDIS_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct wr_redis_time {
    bool is_known;
    int64_t min_us, max_us; /* its clock minus our monotonic one is between these */
    int64_t mono_us;        /* of the last exchange */
};

/* The server read `server_us` from its clock between our `sent_us` and `received_us`. */
void wr_redis_time_note(struct wr_redis_time *time, int64_t server_us, int64_t sent_us,
                        int64_t received_us);

/* It has been set, or is another one. */
void wr_redis_time_forget(struct wr_redis_time *time);

/* What its clock shows at our `mono_us`, at the latest; 0: not known. */
int64_t wr_redis_time_latest(const struct wr_redis_time *time, int64_t mono_us);

#endif
