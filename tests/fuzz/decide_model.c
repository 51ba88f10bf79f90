/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/decide_model.h"

#include "base/assert.h"
#include "limit/limit.h"
#include "limit/unit.h"

struct rule {
    struct wr_str keys[2];
    size_t n_keys;
    struct wr_str shared_prefix; /* of the values that share a counter; empty: each has its own */
    uint32_t requests;
    enum wr_unit unit;
};

/* What applies to a descriptor. */
struct applied {
    bool is_shared; /* by all whom the rule limits; only one rule of the model does so */
    uint32_t requests;
    enum wr_unit unit;
};

#define S(seconds) (INT64_C(1000000) * (seconds))

static const struct rule rules[] = {
    {{WR_STR("k")}, 1, {NULL, 0}, 5, WR_UNIT_MINUTE},
    {{WR_STR("s")}, 1, WR_STR("x"), 3, WR_UNIT_SECOND},
    {{WR_STR("p"), WR_STR("q")}, 2, {NULL, 0}, 2, WR_UNIT_HOUR},
    {{WR_STR("z")}, 1, {NULL, 0}, 0, WR_UNIT_HOUR},
};

static bool is_rule_of(const struct rule *rule, const struct wr_descriptor *descriptor)
{
    if (descriptor->n_entries != rule->n_keys) {
        return false;
    }
    for (size_t i = 0; i < rule->n_keys; i++) {
        if (!wr_str_equal(descriptor->entries[i].key, rule->keys[i])) {
            return false;
        }
    }
    return rule->shared_prefix.len == 0 ||
           wr_str_has_prefix(descriptor->entries[0].value, rule->shared_prefix);
}

/* False when the model does not know what applies. A limit that the request brings counts where a
 * rule's would, when the windows are of one length. */
static bool find_applied(const struct wr_request *request, const struct wr_descriptor *descriptor,
                         struct applied *out_applied)
{
    if (!wr_str_equal(request->domain, wr_str_of(MODEL_DOMAIN))) {
        return false;
    }
    if (descriptor->has_override) {
        *out_applied = (struct applied){
            .requests = descriptor->override.requests_per_unit,
            .unit = (enum wr_unit) descriptor->override.unit,
        };
        return true;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (is_rule_of(&rules[i], descriptor)) {
            *out_applied = (struct applied){
                .is_shared = rules[i].shared_prefix.len > 0,
                .requests = rules[i].requests,
                .unit = rules[i].unit,
            };
            return true;
        }
    }
    return false;
}

static bool is_counter_of(const struct model_counter *counter, const struct applied *applied,
                          const struct wr_descriptor *descriptor)
{
    if (counter->is_shared != applied->is_shared || counter->unit != applied->unit) {
        return false;
    }
    if (counter->is_shared) {
        return true;
    }
    if (counter->n_entries != descriptor->n_entries) {
        return false;
    }
    for (size_t i = 0; i < counter->n_entries; i++) {
        if (!wr_str_equal(counter->entries[i].key, descriptor->entries[i].key) ||
            !wr_str_equal(counter->entries[i].value, descriptor->entries[i].value)) {
            return false;
        }
    }
    return true;
}

/* The counter, in the window of `wall_us`; NULL when the model is full. */
static struct model_counter *find_counter(struct model *model, const struct applied *applied,
                                          const struct wr_descriptor *descriptor, int64_t wall_us)
{
    const int64_t window = wall_us / wr_unit_length_us(applied->unit);
    size_t i = 0;

    while (i < model->n && !is_counter_of(&model->counters[i], applied, descriptor)) {
        i++;
    }
    if (i == MODEL_COUNTERS) {
        return NULL;
    }

    struct model_counter *const counter = &model->counters[i];

    if (i == model->n) {
        model->n++;
        *counter = (struct model_counter){
            .is_shared = applied->is_shared,
            .unit = applied->unit,
            .entries = descriptor->entries,
            .n_entries = descriptor->n_entries,
            .window = window,
        };
    }
    if (counter->window != window) {
        counter->window = window;
        counter->used = 0;
    }
    return counter;
}

static uint64_t hits_of(const struct wr_request *request, const struct wr_descriptor *descriptor)
{
    if (descriptor->has_hits_addend) {
        return descriptor->hits_addend;
    }
    return request->hits_addend == 0 ? 1 : request->hits_addend;
}

static void charge(struct model_counter *counter, uint64_t hits, bool is_refund)
{
    if (is_refund) {
        counter->used = hits > counter->used ? 0 : counter->used - hits;
    } else {
        counter->used = hits > WR_COUNT_MAX - counter->used ? WR_COUNT_MAX : counter->used + hits;
    }
}

static void check_status(const struct model_counter *counter, const struct applied *applied,
                         bool is_refund, int64_t wall_us, const struct wr_descriptor_status *status)
{
    const bool is_over = !is_refund && counter->used > applied->requests;
    const uint64_t left = counter->used > applied->requests ? 0 : applied->requests - counter->used;
    const int64_t end_us = (counter->window + 1) * wr_unit_length_us(applied->unit);

    WR_ASSERT(status->code == (is_over ? WR_CODE_OVER_LIMIT : WR_CODE_OK));
    WR_ASSERT(status->limit_remaining == left);
    WR_ASSERT(status->requests_per_unit == applied->requests && status->unit == applied->unit);
    WR_ASSERT(status->reset_us >= end_us - wall_us);
    WR_ASSERT(status->reset_us < end_us - wall_us + S(1) && status->reset_us % S(1) == 0);
}

bool model_check(struct model *model, const struct wr_request *request, size_t index,
                 int64_t wall_us, const struct wr_descriptor_status *status)
{
    const struct wr_descriptor *const descriptor = &request->descriptors[index];
    struct applied applied;

    if (!find_applied(request, descriptor, &applied)) {
        return false;
    }

    struct model_counter *const counter = find_counter(model, &applied, descriptor, wall_us);

    if (counter == NULL) {
        return false;
    }
    if (!status->has_limit) {
        /* The store had no room, which it only says of a counter that it does not hold. */
        WR_ASSERT(counter->used == 0);
        return false;
    }
    charge(counter, hits_of(request, descriptor), descriptor->is_negative_hits);
    check_status(counter, &applied, descriptor->is_negative_hits, wall_us, status);
    return true;
}
