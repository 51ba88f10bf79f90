/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sentinel: asked where the primary is, and listened to. A connection that listens cannot ask,
 * so there are two; the second is there while the first is.
 *
 * Threads: the loop's thread; new and destroy as for links.
 */
#ifndef WR_STORE_REDIS_WATCHER_H
#define WR_STORE_REDIS_WATCHER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "store/redis/link.h"
#include "store/redis/witness.h"

struct wr_redis_watcher;

struct wr_redis_watcher_options {
    struct wr_redis_link_options link; /* loop, resolver, security, limits, place, login */
    struct wr_str name;                /* of the primary; borrowed while the watcher lives */
    struct wr_redis_witness *said;     /* borrowed as well: where its last answer is put */
    /* It has answered, or cannot; `said` is set. */
    void (*on_said)(void *context);
    /* The primary has changed, it says: everybody is to be asked. */
    void (*on_news)(void *context);
    void *context;
};

/* WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_watcher_new(const struct wr_redis_watcher_options *options,
                                             struct wr_redis_watcher **out_watcher);

/* Closed, or never opened. NULL is fine. */
void wr_redis_watcher_destroy(struct wr_redis_watcher *watcher);

/* Connects, and asks as soon as it can. */
void wr_redis_watcher_open(struct wr_redis_watcher *watcher);

/* Nothing is called any more. */
void wr_redis_watcher_close(struct wr_redis_watcher *watcher);

/* Asks, when the sentinel is there: once more when a question is on its way, whose answer may be
 * older than what has happened since. */
void wr_redis_watcher_ask(struct wr_redis_watcher *watcher);

/* An answer is on its way, or it has neither answered nor failed to since it was opened. */
bool wr_redis_watcher_is_pending(const struct wr_redis_watcher *watcher);

#endif
