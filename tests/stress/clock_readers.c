/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many readers of one clock while the system's steps about, forward by hours too: no reader sees
 * time go back as long as the steps back are of an hour or less, and after a larger one all follow
 * the system.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/stress/crew.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY S(86400)

enum {
    READERS = 4,
    READS = 200000, /* of a reader, and more until a step back was seen */
};

struct shared {
    struct wr_clock clock;
    _Atomic int64_t mono_us;
    _Atomic int64_t offset_us; /* of the system's wall clock */
    _Atomic unsigned n_reading;
    _Atomic uint64_t n_steps, n_reads;
};

static struct wr_now read_raw(void *context)
{
    struct shared *const shared = context;
    const int64_t mono_us = atomic_fetch_add(&shared->mono_us, 1);

    return (struct wr_now){.wall_us = mono_us + atomic_load(&shared->offset_us),
                           .mono_us = mono_us};
}

/* Up by hours, and down by less than one from the highest so far: no reader may take its reading
 * from before a step up for a step down. */
static void step_about(struct shared *shared)
{
    uint64_t random = 1;
    int64_t highest_us = atomic_load(&shared->offset_us);

    while (atomic_load(&shared->n_reading) > 0) {
        const int64_t back_us = (int64_t) (wr_crew_random(&random) % WR_CLOCK_WAIT_US);

        if (random >> 43 & 1) {
            highest_us += (int64_t) (wr_crew_random(&random) % (3 * WR_CLOCK_WAIT_US));
        }
        atomic_store(&shared->offset_us, random >> 41 & 1 ? highest_us : highest_us - back_us);
        atomic_fetch_add(&shared->n_steps, 1);
    }
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;

    if (number == READERS) {
        step_about(shared);
        return;
    }

    struct wr_now before = wr_clock_read(&shared->clock);
    uint64_t n_reads = 0;

    for (; n_reads < READS || atomic_load(&shared->clock.steps_back) == 0; n_reads++) {
        const struct wr_now now = wr_clock_read(&shared->clock);

        wr_check(now.mono_us > before.mono_us, "monotonic time stood still");
        wr_check(now.wall_us > before.wall_us, "time went back by %" PRId64 " us",
                 before.wall_us - now.wall_us);
        before = now;
    }
    atomic_fetch_add(&shared->n_reads, n_reads);
    atomic_fetch_sub(&shared->n_reading, 1);
}

static void read_often(size_t number, void *context)
{
    struct shared *const shared = context;

    (void) number;
    for (int i = 0; i < READS / 10; i++) {
        (void) wr_clock_read(&shared->clock);
    }
}

int main(void)
{
    static struct shared shared;

    wr_log_set_level(WR_LOG_ERROR);
    atomic_store(&shared.offset_us, 20000 * DAY);
    atomic_store(&shared.n_reading, READERS);
    wr_clock_init(&shared.clock, read_raw, &shared);
    wr_crew_run(READERS + 1, run, &shared);
    wr_check(atomic_load(&shared.n_steps) > 0, "the clock never stepped");
    wr_check(atomic_load(&shared.clock.steps_taken) == 0, "a step back was taken over");

    const uint64_t steps_back = atomic_load(&shared.clock.steps_back);

    atomic_store(&shared.offset_us, 19000 * DAY);
    wr_crew_run(READERS, read_often, &shared);
    wr_check(atomic_load(&shared.clock.steps_taken) == 1, "one step, taken over %" PRIu64 " times",
             atomic_load(&shared.clock.steps_taken));

    const struct wr_now now = wr_clock_read(&shared.clock);

    wr_check(now.wall_us - now.mono_us == 19000 * DAY, "the clock did not follow");
    printf("clock_readers: %d readers, %" PRIu64 " reads in order over %" PRIu64 " steps, %" PRIu64
           " of them waited out; a step of days followed once\n",
           READERS, atomic_load(&shared.n_reads), atomic_load(&shared.n_steps), steps_back);
    return EXIT_SUCCESS;
}
