/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/log.h"

static int64_t read_us(clockid_t id)
{
    struct timespec t = {0};

    (void) clock_gettime(id, &t);
    return (int64_t) t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t wr_clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

/* Wall time first: what passes between the reads then looks like a small step back, which is
 * waited out, and not like a step forward, which would be kept. */
static struct wr_now read_system(void *context)
{
    (void) context;

    const int64_t wall_us = read_us(CLOCK_REALTIME);

    return (struct wr_now){.wall_us = wall_us, .mono_us = read_us(CLOCK_MONOTONIC)};
}

void wr_clock_init(struct wr_clock *clock, wr_clock_source_fn source, void *context)
{
    clock->source = source != NULL ? source : read_system;
    clock->context = context;

    const struct wr_now raw = clock->source(context);

    atomic_init(&clock->offset_us, raw.wall_us - raw.mono_us);
    atomic_init(&clock->is_ahead, false);
    atomic_init(&clock->steps_back, 0);
    atomic_init(&clock->steps_taken, 0);
}

static void note_step_back(struct wr_clock *clock, int64_t back_us)
{
    if (back_us < WR_CLOCK_JITTER_US ||
        atomic_exchange_explicit(&clock->is_ahead, true, memory_order_relaxed)) {
        return;
    }
    atomic_fetch_add_explicit(&clock->steps_back, 1, memory_order_relaxed);
    wr_log(WR_LOG_WARN,
           "clock: the system's time went back by %" PRId64 " ms; counting goes on "
           "with the time before, until the system's has caught up",
           back_us / 1000);
}

static void note_caught_up(struct wr_clock *clock)
{
    if (atomic_load_explicit(&clock->is_ahead, memory_order_relaxed)) {
        atomic_store_explicit(&clock->is_ahead, false, memory_order_relaxed);
    }
}

static void note_taken_over(struct wr_clock *clock, int64_t back_us)
{
    atomic_fetch_add_explicit(&clock->steps_taken, 1, memory_order_relaxed);
    note_caught_up(clock);
    wr_log(WR_LOG_WARN, "clock: the system's time went back by %" PRId64 " s; windows begin anew",
           back_us / 1000000);
}

/*
 * The offset in force after the source gave `now`.
 *
 * It only changes by a reading that was made after the offset was loaded, which says that the
 * system's clock was there last: a thread that lost the processor after its reading would else
 * take another's step forward for a step back. The load acquires what the exchange of another
 * thread released, so that its reading, too, came before ours.
 */
static int64_t follow(struct wr_clock *clock, struct wr_now *now)
{
    int64_t offset_us = atomic_load_explicit(&clock->offset_us, memory_order_acquire);
    bool is_fresh = false;

    for (;;) {
        const int64_t seen_us = now->wall_us - now->mono_us;
        const int64_t back_us = offset_us - seen_us;

        if (back_us == 0) {
            note_caught_up(clock);
            return offset_us;
        }
        if (back_us > 0 && back_us <= WR_CLOCK_WAIT_US) {
            note_step_back(clock, back_us);
            return offset_us;
        }
        if (!is_fresh) {
            *now = clock->source(clock->context);
            is_fresh = true;
        } else if (atomic_compare_exchange_strong_explicit(&clock->offset_us, &offset_us, seen_us,
                                                           memory_order_acq_rel,
                                                           memory_order_acquire)) {
            if (back_us > 0) {
                note_taken_over(clock, back_us);
            } else {
                note_caught_up(clock);
            }
            return seen_us;
        } else {
            is_fresh = false;
        }
    }
}

struct wr_now wr_clock_read(struct wr_clock *clock)
{
    struct wr_now now = clock->source(clock->context);
    const int64_t offset_us = follow(clock, &now);
    const int64_t wall_us = now.mono_us + offset_us;

    now.wall_us = wall_us > 0 ? wall_us : 0;
    return now;
}
