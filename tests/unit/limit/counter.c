/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/limit/counter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

void wr_counter_init(struct wr_counter *counter, const struct wr_limit *limit)
{
    static const uint64_t never_hit[WR_STATE_WORDS_MAX] = {0};

    *counter = (struct wr_counter){
        .limit = *limit, .n_words = wr_counter_kind_of(limit)->state_words(never_hit, limit, 1)};
    WR_ASSERT(counter->n_words >= 2);
    counter->words = calloc(counter->n_words, sizeof *counter->words);
    WR_ASSERT(counter->words != NULL);
}

void wr_counter_fini(struct wr_counter *counter)
{
    free(counter->words);
}

static void grow(struct wr_counter *counter, uint32_t n_words)
{
    if (n_words <= counter->n_words) {
        return;
    }
    counter->words = realloc(counter->words, n_words * sizeof *counter->words);
    WR_ASSERT(counter->words != NULL);
    memset(counter->words + counter->n_words, 0,
           (n_words - counter->n_words) * sizeof *counter->words);
    counter->n_words = n_words;
}

void wr_counter_copy(struct wr_counter *copy, const struct wr_counter *counter)
{
    grow(copy, counter->n_words);
    copy->limit = counter->limit;
    memset(copy->words, 0, copy->n_words * sizeof *copy->words);
    memcpy(copy->words, counter->words, counter->n_words * sizeof *copy->words);
}

/* With as many words as a take needs, since peeks are of states that a store keeps whole. */
static const struct wr_counter_kind *kind_with_room(struct wr_counter *counter, uint64_t hits)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(&counter->limit);

    grow(counter, kind->state_words(counter->words, &counter->limit, hits));
    return kind;
}

struct wr_verdict wr_counter_peek(const struct wr_counter *counter, uint64_t hits, int64_t now_us)
{
    return wr_counter_kind_of(&counter->limit)->peek(counter->words, &counter->limit, hits, now_us);
}

static bool is_equal(const struct wr_verdict *a, const struct wr_verdict *b, bool with_reset)
{
    return a->over == b->over && a->remaining == b->remaining &&
           (!with_reset || a->reset_us == b->reset_us) && a->enforced == b->enforced;
}

/* A look at hits that would be charged does not reckon with a climb. */
static bool tells_wait(const struct wr_limit *limit, uint64_t hits, bool over)
{
    return limit->warm_up_us == 0 || hits == 0 || (over && limit->count != WR_COUNT_ALL);
}

struct wr_verdict wr_counter_take(struct wr_counter *counter, uint64_t hits, int64_t now_us)
{
    const struct wr_counter_kind *const kind = kind_with_room(counter, hits);
    const struct wr_verdict peeked = kind->peek(counter->words, &counter->limit, hits, now_us);
    const uint64_t first = counter->words[0];
    const struct wr_verdict verdict = kind->take(counter->words, &counter->limit, hits, now_us);

    WR_ASSERT(is_equal(&peeked, &verdict, tells_wait(&counter->limit, hits, verdict.over)));
    WR_ASSERT(hits > 0 || counter->words[0] == first);
    WR_ASSERT(!verdict.over || (verdict.remaining == 0 && verdict.reset_us > 0));
    WR_ASSERT(verdict.reset_us >= 0);
    return verdict;
}

struct wr_verdict wr_counter_refund(struct wr_counter *counter, uint64_t hits, int64_t now_us)
{
    const struct wr_counter_kind *const kind = kind_with_room(counter, 0);
    const struct wr_verdict verdict = kind->refund(counter->words, &counter->limit, hits, now_us);

    WR_ASSERT(!verdict.over);
    return verdict;
}

int64_t wr_counter_expiry(const struct wr_counter *counter)
{
    return (int64_t) counter->words[0];
}

void wr_counter_play(const struct wr_limit *limit, const struct wr_step *steps, size_t n)
{
    struct wr_counter counter;

    wr_counter_init(&counter, limit);
    for (size_t i = 0; i < n; i++) {
        const struct wr_step *const want = &steps[i];
        const struct wr_verdict got =
            want->hits < 0 ? wr_counter_refund(&counter, (uint64_t) -want->hits, want->now_us)
                           : wr_counter_take(&counter, (uint64_t) want->hits, want->now_us);

        if (got.over != want->over || got.remaining != want->remaining ||
            got.reset_us != want->reset_us) {
            (void) fprintf(stderr,
                           "row %zu: over %d, %" PRIu64 " remaining, reset in %" PRId64 " us\n", i,
                           got.over, got.remaining, got.reset_us);
        }
        WR_ASSERT(got.over == want->over);
        WR_ASSERT(got.remaining == want->remaining);
        WR_ASSERT(got.reset_us == want->reset_us);
    }
    wr_counter_fini(&counter);
}
