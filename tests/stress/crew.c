/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/crew.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/thread.h"

#define MAX_MEMBERS 16

struct member {
    struct wr_thread thread;
    size_t number;
    wr_crew_fn run;
    void *shared;
    pthread_barrier_t *begin;
};

static void run_member(void *context)
{
    struct member *const member = context;

    (void) pthread_barrier_wait(member->begin);
    member->run(member->number, member->shared);
}

void wr_crew_run(size_t n, wr_crew_fn run, void *shared)
{
    struct member members[MAX_MEMBERS];
    pthread_barrier_t begin;

    wr_check(n > 0 && n <= MAX_MEMBERS, "a crew of %zu", n);
    wr_check(pthread_barrier_init(&begin, NULL, (unsigned) n) == 0, "no barrier");
    for (size_t i = 0; i < n; i++) {
        members[i] = (struct member){.number = i, .run = run, .shared = shared, .begin = &begin};
        wr_check(wr_thread_start(&members[i].thread, "crew", run_member, &members[i]) == WR_OK,
                 "no thread %zu", i);
    }
    for (size_t i = 0; i < n; i++) {
        wr_thread_join(&members[i].thread);
    }
    (void) pthread_barrier_destroy(&begin);
}

uint64_t wr_crew_random(uint64_t *state)
{
    return wr_random_next(state);
}

void wr_check(bool holds, const char *format, ...)
{
    va_list args;

    if (holds) {
        return;
    }
    va_start(args, format);
    (void) fputs("FAILED: ", stderr);
    (void) vfprintf(stderr, format, args);
    (void) fputc('\n', stderr);
    va_end(args);
    exit(EXIT_FAILURE);
}
