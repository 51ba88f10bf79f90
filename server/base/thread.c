/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "base/thread.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "base/assert.h"

static void *begin(void *argument)
{
    struct wr_thread *const thread = argument;

    (void) pthread_setname_np(pthread_self(), thread->name);
    thread->run(thread->context);
    return NULL;
}

enum wr_err wr_thread_start(struct wr_thread *thread, const char *name, wr_thread_fn run,
                            void *context)
{
    sigset_t all, before;

    thread->run = run;
    thread->context = context;
    (void) snprintf(thread->name, sizeof thread->name, "%s", name);

    (void) sigfillset(&all);
    WR_ASSERT(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);

    const int failed = pthread_create(&thread->handle, NULL, begin, thread);

    WR_ASSERT(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    return failed == 0 ? WR_OK : WR_ERR_SYSTEM;
}

void wr_thread_detach(struct wr_thread *thread)
{
    WR_ASSERT(pthread_detach(thread->handle) == 0);
}

void wr_thread_join(struct wr_thread *thread)
{
    WR_ASSERT(pthread_join(thread->handle, NULL) == 0);
}
