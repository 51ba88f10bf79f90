/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/take_model.h"

#include "base/assert.h"

/* The takes of one batch, and when. */
struct batch {
    struct wr_take_model *model;
    struct wr_take *takes;
    size_t n;
    int64_t now_us;
};

static uint64_t *state_of(struct wr_take_model *model, struct wr_str key)
{
    for (size_t i = 0; i < model->n_counters; i++) {
        if (wr_str_equal(model->counters[i].key, key)) {
            return model->counters[i].state;
        }
    }
    WR_ASSERT(model->n_counters < WR_TAKE_MODEL_KEYS);
    model->counters[model->n_counters].key = key;
    return model->counters[model->n_counters++].state;
}

/* The verdict on `hits`, which are not charged. */
static struct wr_verdict look(const struct batch *batch, const struct wr_take *take, uint64_t hits)
{
    return wr_counter_kind_of(&take->limit)
        ->peek(state_of(batch->model, take->key), &take->limit, hits, batch->now_us);
}

static void charge(const struct batch *batch, struct wr_take *take, enum wr_count count)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(&take->limit);
    uint64_t *const state = state_of(batch->model, take->key);
    struct wr_limit limit = take->limit;

    limit.count = count;
    WR_ASSERT(kind->state_words(state, &limit, take->hits) <= WR_TAKE_MODEL_WORDS);
    take->verdict = take->is_refund ? kind->refund(state, &limit, take->hits, batch->now_us)
                                    : kind->take(state, &limit, take->hits, batch->now_us);
}

/* Looks, and leaves what a take of `hits` by itself leaves when it is refused. */
static void look_or_refuse(const struct batch *batch, struct wr_take *take, uint64_t hits,
                           bool is_over)
{
    take->verdict = look(batch, take, is_over ? hits : 0);
    if (is_over && take->verdict.over && take->hits > 0) {
        struct wr_take refused = *take;

        refused.hits = hits;
        charge(batch, &refused, WR_COUNT_ADMITTED);
        take->verdict = refused.verdict;
    }
    if (is_over) {
        take->verdict.over = true;
        take->verdict.remaining = 0;
        take->verdict.reset_us += take->verdict.reset_us == 0;
    }
}

/* The hits on the key of `take` by all of its group. */
static uint64_t demand(const struct batch *batch, const struct wr_take *take)
{
    uint64_t sum = 0;

    if (batch->model->forgets_duplicates) {
        return take->hits;
    }
    for (size_t i = 0; i < batch->n; i++) {
        const struct wr_take *const other = &batch->takes[i];

        if (other->group == take->group && !other->is_refund &&
            wr_str_equal(other->key, take->key)) {
            sum = other->hits > WR_COUNT_MAX - sum ? WR_COUNT_MAX : sum + other->hits;
        }
    }
    return sum;
}

static bool group_fits(const struct batch *batch, uint32_t group)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct wr_take *const take = &batch->takes[i];

        if (take->group == group && take->is_enforced && !take->is_refund &&
            look(batch, take, demand(batch, take)).over) {
            return false;
        }
    }
    return true;
}

static void take_group(const struct batch *batch, uint32_t group)
{
    const bool fits = group_fits(batch, group);
    uint64_t judged[64];
    bool is_over[64];

    WR_ASSERT(batch->n <= 64);
    for (size_t i = 0; i < batch->n; i++) {
        judged[i] = demand(batch, &batch->takes[i]);
        is_over[i] = look(batch, &batch->takes[i], judged[i]).over;
    }
    for (size_t i = 0; i < batch->n; i++) {
        struct wr_take *const take = &batch->takes[i];

        if (take->group != group) {
            continue;
        }
        if (take->limit.count != WR_COUNT_ALL_OR_NOTHING) {
            charge(batch, take, take->limit.count);
        } else if (fits || take->is_refund) {
            charge(batch, take, WR_COUNT_ALL);
        } else {
            look_or_refuse(batch, take, judged[i], is_over[i]);
        }
    }
}

static void take_by_count(const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        bool is_first = true;

        for (size_t k = 0; k < i; k++) {
            is_first = is_first && batch->takes[k].group != batch->takes[i].group;
        }
        if (is_first) {
            take_group(batch, batch->takes[i].group);
        }
    }
}

static void take_stopping(const struct batch *batch)
{
    bool is_over[64], stops = false;

    WR_ASSERT(batch->n <= 64);
    for (size_t i = 0; i < batch->n; i++) {
        const struct wr_take *const take = &batch->takes[i];

        is_over[i] = !take->is_refund && look(batch, take, take->hits).over;
        stops = stops || is_over[i];
    }
    for (size_t i = 0; i < batch->n; i++) {
        struct wr_take *const take = &batch->takes[i];

        if (stops && !is_over[i] && !take->is_refund) {
            take->verdict = look(batch, take, 0);
        } else {
            charge(batch, take, WR_COUNT_ALL);
        }
    }
}

void wr_take_model_batch(struct wr_take_model *model, struct wr_take *takes, size_t n,
                         enum wr_charge_mode mode, int64_t now_us)
{
    const struct batch batch = {.model = model, .takes = takes, .n = n, .now_us = now_us};

    for (size_t i = 0; i < n; i++) {
        takes[i].answer = WR_TAKE_DECIDED;
    }
    if (mode == WR_CHARGE_STOP) {
        take_stopping(&batch);
    } else {
        take_by_count(&batch);
    }
}
