/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/sliding_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "limit/after.h"

_Static_assert(offsetof(struct wr_sliding_log, expiry_us) == 0, "a state begins with its expiry");
_Static_assert(WR_SLIDING_LOG_MAX < UINT16_MAX, "places fit");

/* Entries that a ring grows by, while it has fewer than eight and from then on. */
#define FIRST_STEP 4U
#define STEP 8U

/* The log at one time. */
struct view {
    uint64_t used;
    uint32_t n_gone; /* of the oldest entries: they have expired */
    uint32_t n;      /* the others */
};

/* The place of the `i`-th entry from the oldest. */
static uint32_t place_of(const struct wr_sliding_log *log, uint32_t i)
{
    const uint32_t place = log->first + i;

    return place < log->capacity ? place : place - log->capacity;
}

/* A log that is more than a window ahead comes from another time. */
static inline void look(struct view *view, const struct wr_sliding_log *log, int64_t length_us,
                        int64_t now_us)
{
    uint32_t n_gone = 0;
    uint64_t used = log->used;

    if (log->expiry_us <= now_us || log->expiry_us - now_us > 2 * length_us) {
        view->used = 0;
        view->n_gone = log->n;
        view->n = 0;
        return;
    }
    while (n_gone < log->n) {
        const struct wr_sliding_log_entry *const entry = &log->ring[place_of(log, n_gone)];

        if (entry->stamp_us > now_us - length_us) {
            break;
        }
        used -= entry->hits;
        n_gone++;
    }
    view->used = used;
    view->n_gone = n_gone;
    view->n = log->n - n_gone;
}

/* Entries that there may be; there are more while a limit that was lowered still has those of the
 * former. */
static uint32_t most_entries(const struct wr_limit *limit)
{
    const uint32_t most =
        limit->requests < WR_SLIDING_LOG_MAX ? (uint32_t) limit->requests : WR_SLIDING_LOG_MAX;

    return most > 0 ? most : 1;
}

/*
 * How long until `n` hits have expired, of those that count, and then of the `charge` new ones. n >
 * 0. When no entry is left for new ones, the newest becomes as new as they are.
 */
static int64_t wait_for(const struct view *view, const struct wr_sliding_log *log,
                        const struct wr_limit *limit, uint64_t charge, uint64_t n, int64_t now_us)
{
    const bool joins = charge > 0 && view->n >= most_entries(limit);
    const uint32_t end = log->n - (joins ? 1U : 0U);
    int64_t stamp_us = now_us;
    uint64_t expired = 0;

    for (uint32_t i = view->n_gone; i < end && expired < n; i++) {
        const struct wr_sliding_log_entry *const entry = &log->ring[place_of(log, i)];

        expired += entry->hits;
        stamp_us = entry->stamp_us;
    }
    if (expired < n && joins) {
        stamp_us = log->ring[place_of(log, end)].stamp_us;
    }
    if (expired < n && stamp_us < now_us) {
        stamp_us = now_us;
    }
    return stamp_us + limit->length_us - now_us;
}

static inline int64_t reset_of(const struct view *view, const struct wr_sliding_log *log,
                               const struct wr_limit *limit, bool over, uint64_t hits,
                               int64_t now_us)
{
    const uint64_t charge = wr_after_charge(limit, over, hits);
    const uint64_t after = wr_count_add(view->used, charge);
    const uint64_t target = wr_after_target(limit, over, after);

    if (after <= target) {
        return wr_after_reset_at_once(limit, over);
    }
    return wait_for(view, log, limit, charge, after - target, now_us);
}

/* Forgets what has expired. */
static void settle(struct wr_sliding_log *log, const struct view *view)
{
    log->first = (uint16_t) (view->n > 0 ? place_of(log, view->n_gone) : 0);
    log->n = (uint16_t) view->n;
    log->used = view->used;
}

/* That the next entry needs: one step more when it is full, unless it joins the newest. */
static uint32_t capacity_for(const struct wr_sliding_log *log, const struct wr_limit *limit)
{
    const uint32_t most = most_entries(limit);
    const uint32_t next = log->capacity + (log->capacity < STEP ? FIRST_STEP : STEP);

    if (log->n < log->capacity || log->n >= most) {
        return log->capacity;
    }
    return next < most ? next : most;
}

/* In a full ring, the entries from the first place on move to its new end. */
static void grow(struct wr_sliding_log *log, uint32_t capacity)
{
    const uint32_t added = capacity - log->capacity;

    if (log->first > 0) {
        memmove(&log->ring[log->first + added], &log->ring[log->first],
                (size_t) (log->capacity - log->first) * sizeof log->ring[0]);
        log->first = (uint16_t) (log->first + added);
    }
    log->capacity = (uint16_t) capacity;
}

static void add(struct wr_sliding_log *log, const struct wr_limit *limit, uint64_t hits,
                int64_t now_us)
{
    struct wr_sliding_log_entry *newest =
        log->n > 0 ? &log->ring[place_of(log, log->n - 1U)] : NULL;
    const int64_t stamp_us =
        newest != NULL && newest->stamp_us > now_us ? newest->stamp_us : now_us;
    const uint64_t used = wr_count_add(log->used, hits);

    if (log->n < most_entries(limit) && (newest == NULL || newest->stamp_us != stamp_us)) {
        const uint32_t capacity = capacity_for(log, limit);

        if (capacity > log->capacity) {
            grow(log, capacity);
        }
        newest = &log->ring[place_of(log, log->n)];
        newest->hits = 0;
        log->n++;
    }
    newest->stamp_us = stamp_us;
    newest->hits += used - log->used;
    log->used = used;
    log->expiry_us = stamp_us + limit->length_us;
}

static struct wr_verdict peek(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct view view;

    look(&view, state, limit->length_us, now_us);

    const bool over = wr_after_is_over(limit, view.used, hits);
    const int64_t reset_us = reset_of(&view, state, limit, over, hits, now_us);

    return wr_after_verdict(limit, over, view.used, hits, reset_us);
}

static struct wr_verdict take(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us)
{
    struct view view;

    look(&view, state, limit->length_us, now_us);

    const bool over = wr_after_is_over(limit, view.used, hits);
    const int64_t reset_us = reset_of(&view, state, limit, over, hits, now_us);

    if (hits > 0 && (!over || limit->count == WR_COUNT_ALL)) {
        settle(state, &view);
        add(state, limit, hits, now_us);
    }
    return wr_after_verdict(limit, over, view.used, hits, reset_us);
}

/* Of the newest entries; one that has none left is removed. */
static void give_back(struct wr_sliding_log *log, uint64_t hits)
{
    while (hits > 0 && log->n > 0) {
        struct wr_sliding_log_entry *const newest = &log->ring[place_of(log, log->n - 1U)];
        const uint64_t given = hits < newest->hits ? hits : newest->hits;

        newest->hits -= given;
        log->used -= given;
        hits -= given;
        if (newest->hits == 0) {
            log->n--;
        }
    }
}

static struct wr_verdict refund(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us)
{
    struct wr_sliding_log *const log = state;
    struct view view;

    look(&view, log, limit->length_us, now_us);
    if (hits > 0 && view.used > 0) {
        settle(log, &view);
        give_back(log, hits);
        log->expiry_us = now_us;
        if (log->n > 0) {
            log->expiry_us = log->ring[place_of(log, log->n - 1U)].stamp_us + limit->length_us;
        }
    }

    struct wr_verdict verdict = peek(log, limit, 0, now_us);

    verdict.over = false;
    return verdict;
}

static uint32_t state_words(const void *state, const struct wr_limit *limit, uint64_t hits)
{
    (void) hits;

    const size_t bytes = sizeof(struct wr_sliding_log) +
                         (size_t) capacity_for(state, limit) * sizeof(struct wr_sliding_log_entry);

    return (uint32_t) (bytes / sizeof(uint64_t));
}

const struct wr_counter_kind wr_sliding_log_kind = {
    .clock = WR_COUNTER_MONO,
    .state_words = state_words,
    .peek = peek,
    .take = take,
    .refund = refund,
};
