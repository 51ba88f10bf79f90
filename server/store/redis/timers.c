/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/timers.h"

#include "base/assert.h"

/* The first tick that is not before the moment: so a timer never goes off early. */
static int64_t tick_of(int64_t mono_us)
{
    return (mono_us + WR_REDIS_TICK_US - 1) / WR_REDIS_TICK_US;
}

static void unlink_timer(struct wr_redis_timer *timer)
{
    timer->next->previous = timer->previous;
    timer->previous->next = timer->next;
    timer->next = timer->previous = NULL;
}

static void link_timer(struct wr_redis_timer *head, struct wr_redis_timer *timer)
{
    timer->next = head;
    timer->previous = head->previous;
    head->previous->next = timer;
    head->previous = timer;
}

static bool is_empty(const struct wr_redis_timer *head)
{
    return head->next == head;
}

void wr_redis_timers_init(struct wr_redis_timers *timers, int64_t mono_us)
{
    *timers = (struct wr_redis_timers){.tick = tick_of(mono_us)};
    for (size_t i = 0; i < WR_REDIS_TICKS; i++) {
        timers->ticks[i].next = timers->ticks[i].previous = &timers->ticks[i];
    }
}

void wr_redis_timer_set(struct wr_redis_timers *timers, struct wr_redis_timer *timer,
                        int64_t due_mono_us)
{
    int64_t tick = tick_of(due_mono_us);

    tick = tick > timers->tick ? tick : timers->tick;

    const size_t place = (size_t) (tick % WR_REDIS_TICKS);

    WR_ASSERT(due_mono_us <= INT64_MAX - WR_REDIS_TICK_US);
    wr_redis_timer_clear(timer);
    timer->due_mono_us = due_mono_us;
    link_timer(&timers->ticks[place], timer);
    timers->is_used[place / 64] |= UINT64_C(1) << place % 64;
}

void wr_redis_timer_clear(struct wr_redis_timer *timer)
{
    if (wr_redis_timer_is_set(timer)) {
        unlink_timer(timer);
    }
}

/* Moves those of a ring that are due to `due`. */
static void collect(struct wr_redis_timers *timers, size_t place, int64_t mono_us,
                    struct wr_redis_timer *due)
{
    struct wr_redis_timer *const head = &timers->ticks[place];

    for (struct wr_redis_timer *timer = head->next; timer != head;) {
        struct wr_redis_timer *const next = timer->next;

        if (timer->due_mono_us <= mono_us) {
            unlink_timer(timer);
            link_timer(due, timer);
        }
        timer = next;
    }
    if (is_empty(head)) {
        timers->is_used[place / 64] &= ~(UINT64_C(1) << place % 64);
    }
}

/* The first ring from `place` on that may hold timers, going round once; WR_REDIS_TICKS: none. The
 * result is how many rings further it is. */
static size_t distance_to_used(const struct wr_redis_timers *timers, size_t place)
{
    const size_t n_words = WR_REDIS_TICKS / 64;

    for (size_t i = 0; i <= n_words; i++) {
        const size_t word = (place / 64 + i) % n_words;
        uint64_t bits = timers->is_used[word];

        if (i == 0) {
            bits &= ~UINT64_C(0) << place % 64;
        }
        if (bits != 0) {
            const size_t found = word * 64 + (size_t) __builtin_ctzll(bits);

            return (found + WR_REDIS_TICKS - place) % WR_REDIS_TICKS;
        }
    }
    return WR_REDIS_TICKS;
}

void wr_redis_timers_run(struct wr_redis_timers *timers, int64_t mono_us)
{
    const int64_t now = mono_us / WR_REDIS_TICK_US;
    struct wr_redis_timer due;

    due.next = due.previous = &due;
    if (now - timers->tick >= WR_REDIS_TICKS) {
        timers->tick = now - WR_REDIS_TICKS + 1; /* once round sees them all */
    }
    while (timers->tick <= now) {
        const size_t place = (size_t) (timers->tick % WR_REDIS_TICKS);
        const size_t distance = distance_to_used(timers, place);

        if ((int64_t) distance > now - timers->tick) {
            timers->tick = now + 1;
            break;
        }
        timers->tick += (int64_t) distance;
        collect(timers, (size_t) (timers->tick % WR_REDIS_TICKS), mono_us, &due);
        timers->tick++;
    }
    while (!is_empty(&due)) {
        struct wr_redis_timer *const timer = due.next;

        unlink_timer(timer);
        timer->on_due(timer, mono_us);
    }
}

int64_t wr_redis_timers_next(struct wr_redis_timers *timers)
{
    const size_t place = (size_t) (timers->tick % WR_REDIS_TICKS);
    size_t distance = distance_to_used(timers, place);

    while (distance < WR_REDIS_TICKS) {
        const size_t found = (place + distance) % WR_REDIS_TICKS;

        if (!is_empty(&timers->ticks[found])) {
            return (timers->tick + (int64_t) distance) * WR_REDIS_TICK_US;
        }
        timers->is_used[found / 64] &= ~(UINT64_C(1) << found % 64);
        distance = distance_to_used(timers, place);
    }
    return INT64_MAX;
}
