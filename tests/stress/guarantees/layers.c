/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/layers.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/local_store.h"
#include "tests/stress/crew.h"
#include "tests/stress/guarantees/counter.h"

#define N_STEPS 16 /* a store takes its time */

void wr_prey_layers_open(struct wr_prey_layers *layers)
{
    const struct wr_local_store_options options = {.max_counters = 100000, .n_stripes = 4};

    layers->metrics = wr_metrics_new();
    wr_check(layers->metrics != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &layers->taker.backend) == WR_OK, "no store");
    layers->taker.metrics = wr_metrics_block_new(layers->metrics);
    wr_check(layers->taker.metrics != NULL, "no memory");
    wr_arena_init(&layers->arena, 4096);
    layers->taker.arena = &layers->arena;
}

void wr_prey_layers_close(struct wr_prey_layers *layers)
{
    wr_backend_destroy(layers->taker.backend);
    wr_metrics_destroy(layers->metrics);
    wr_arena_fini(&layers->arena);
}

/* All takes of `hits` in one group. */
static void ask(struct wr_prey_layers *layers, struct wr_take *takes, uint64_t hits,
                int64_t read_us)
{
    for (size_t i = 0; i < layers->n; i++) {
        takes[i] = (struct wr_take){
            .key = wr_str_of(layers->layers[i].key),
            .limit = layers->layers[i].limit,
            .hits = hits,
            .is_enforced = true,
        };
    }
    layers->taker.now = (struct wr_now){.wall_us = read_us, .mono_us = read_us};
    wr_taker_batch(&layers->taker, takes, layers->n);
    for (size_t i = 0; i < layers->n; i++) {
        wr_schedule_check(&layers->prey.name, takes[i].answer == WR_TAKE_DECIDED,
                          "a take was not decided");
    }
}

/* The least that remains, and the longest wait of those that are over. */
static struct wr_verdict sum_up(const struct wr_take *takes, size_t n)
{
    struct wr_verdict sum = {.remaining = UINT64_MAX};

    for (size_t i = 0; i < n; i++) {
        const struct wr_verdict *const verdict = &takes[i].verdict;

        sum.remaining = verdict->remaining < sum.remaining ? verdict->remaining : sum.remaining;
        sum.over = sum.over || verdict->over;
        if (verdict->over && verdict->reset_us > sum.reset_us) {
            sum.reset_us = verdict->reset_us;
        }
    }
    return sum;
}

static struct wr_verdict look(struct wr_prey *prey, const struct wr_moment *moment)
{
    struct wr_prey_layers *const layers = (struct wr_prey_layers *) prey;
    struct wr_take takes[WR_PREY_LAYERS];

    ask(layers, takes, 0, moment->read_us);
    for (size_t i = 0; i < layers->n; i++) {
        layers->layers[i].left = takes[i].verdict.remaining;
    }
    return sum_up(takes, layers->n);
}

/* What a take has left of each is less by its hits, or the same as before. */
static void check_charges(struct wr_prey_layers *layers, const uint64_t *before, uint64_t charged)
{
    for (size_t i = 0; i < layers->n; i++) {
        wr_schedule_check(&layers->prey.name, layers->layers[i].left + charged == before[i],
                          charged > 0 ? "not all layers are charged" : "a refused take is charged");
    }
}

/* After a look at the same moment. */
static struct wr_verdict take(struct wr_prey *prey, uint64_t hits, const struct wr_moment *moment)
{
    struct wr_prey_layers *const layers = (struct wr_prey_layers *) prey;
    struct wr_take takes[WR_PREY_LAYERS];
    uint64_t before[WR_PREY_LAYERS];

    for (size_t i = 0; i < layers->n; i++) {
        before[i] = layers->layers[i].left;
    }
    ask(layers, takes, hits, moment->read_us);
    (void) look(prey, moment);

    const struct wr_verdict verdict = sum_up(takes, layers->n);
    const uint64_t charged = verdict.over ? 0 : hits;

    check_charges(layers, before, charged);
    for (size_t i = 0; i < layers->n; i++) {
        struct wr_layer *const layer = &layers->layers[i];

        wr_record_add(&layer->record, moment->latest_us, charged,
                      wr_prey_allowance(&layer->limit, takes[i].verdict.enforced));
    }
    return verdict;
}

static int64_t end_of_window(const struct wr_prey *prey, int64_t now_us)
{
    return wr_prey_end_of_window(&((const struct wr_prey_layers *) prey)->layers[0].limit, now_us);
}

static void set_limit(struct wr_layer *layer)
{
    layer->limit = wr_drawn_rule_limit(&layer->rule);
    layer->limit.count = WR_COUNT_ALL_OR_NOTHING;
}

static bool keeps_its_waits(const struct wr_prey_layers *layers)
{
    bool keeps = true;

    for (size_t i = 0; i < layers->n; i++) {
        const struct wr_layer *const layer = &layers->layers[i];

        keeps = keeps && (layer->rule.traits & WR_RULE_WARMS_UP) == 0 && layer->limit.requests > 0;
    }
    return keeps;
}

static void vary(struct wr_prey *prey, uint64_t *random)
{
    struct wr_prey_layers *const layers = (struct wr_prey_layers *) prey;
    struct wr_layer *const layer =
        &layers->layers[wr_draw_between(random, 0, (int64_t) layers->n - 1)];

    wr_drawn_rule_vary(&layer->rule, random);
    set_limit(layer);
    prey->keeps_its_waits = keeps_its_waits(layers);
}

void wr_prey_layers_init(struct wr_prey_layers *layers, const struct wr_schedule_name *name,
                         const struct wr_drawn_rule *rules, size_t n)
{
    const unsigned traits = rules[0].traits;

    layers->n = n;
    layers->prey = (struct wr_prey){
        .name = *name,
        .take = take,
        .look = look,
        .end_of_window = end_of_window,
        .vary = (traits & WR_RULE_VARIES) != 0 ? vary : NULL,
        .length_us = rules[0].length_us,
        .n_steps = N_STEPS,
    };
    for (size_t i = 0; i < n; i++) {
        struct wr_layer *const layer = &layers->layers[i];

        layer->rule = rules[i];
        layer->record.n = 0;
        set_limit(layer);
        (void) snprintf(layer->key, sizeof layer->key, "%" PRIu64 ":%" PRIu32 ":%zu", name->seed,
                        name->number, i);
    }
    layers->prey.keeps_its_waits = keeps_its_waits(layers);
}
