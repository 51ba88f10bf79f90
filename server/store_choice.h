/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store that a server counts with, put together as the options say.
 *
 * Threads: main, before any other thread takes.
 */
#ifndef WR_STORE_CHOICE_H
#define WR_STORE_CHOICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct wr_backend;
struct wr_clock;
struct wr_metrics;

struct wr_store_frame {
    const struct wr_options *options; /* borrowed while the backend lives, as all */
    struct wr_metrics *metrics;
    struct wr_clock *clock;
    _Atomic uint32_t *replicas; /* that share limits; the store keeps it; 0: not known */
    /* Each change, beginning from "no", of a store that can be away; NULL: nobody wants to know.
     * Any thread. */
    void (*on_reachable)(void *context, bool is_reachable);
    void (*on_per_second_reachable)(void *context, bool is_reachable); /* of the second one */
    void *context;
};

/* Makes the backend of a server, which destroys it. EX_OK, or another of sysexits.h after a message
 * to stderr. */
typedef int (*wr_backend_new_fn)(const struct wr_store_frame *frame,
                                 struct wr_backend **out_backend);

/* As the options say. */
int wr_store_choose(const struct wr_store_frame *frame, struct wr_backend **out_backend);

#endif
