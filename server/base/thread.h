/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with a name, an owner and a join. All signals are blocked in them: one thread of the
 * process waits for signals.
 *
 * Threads: start, detach and join by the owner.
 */
#ifndef WR_BASE_THREAD_H
#define WR_BASE_THREAD_H

#include <pthread.h>

#include "base/err.h"

typedef void (*wr_thread_fn)(void *context);

struct wr_thread {
    pthread_t handle;
    wr_thread_fn run;
    void *context; /* borrowed; of run */
    char name[16]; /* what the kernel shows, cut to 15 characters */
};

/* Starts `run(context)`. `thread` must stay in place until joined. WR_ERR_SYSTEM on refusal. */
WR_MUST_USE enum wr_err wr_thread_start(struct wr_thread *thread, const char *name,
                                        wr_thread_fn run, void *context);

/* Instead of a join, for what others may block for longer than an end can wait. `run` may then free
 * `thread`, once this has returned. */
void wr_thread_detach(struct wr_thread *thread);

/* Waits until `run` has returned. */
void wr_thread_join(struct wr_thread *thread);

#endif
