/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fates.h"

#include <stdlib.h>

/* A take on its way into the order of groups. */
struct place {
    uint32_t group;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *const left = a;
    const struct place *const right = b;

    if (left->group != right->group) {
        return left->group < right->group ? -1 : 1;
    }
    return left->index < right->index ? -1 : 1;
}

static bool is_ascending(const struct wr_batch *batch)
{
    for (size_t i = 1; i < batch->n_takes; i++) {
        if (batch->takes[i].group < batch->takes[i - 1].group) {
            return false;
        }
    }
    return true;
}

/* False when memory is out. */
static bool name_in_order(const struct wr_batch *batch, size_t *fates)
{
    struct place *const places = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *places);

    if (places == NULL) {
        return false;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        places[i] = (struct place){.group = batch->takes[i].group, .index = i};
    }
    qsort(places, batch->n_takes, sizeof *places, compare_places);
    for (size_t i = 0, first = 0; i < batch->n_takes; i++) {
        first = places[i].group == places[first].group ? first : i;
        fates[places[i].index] = places[first].index;
    }
    return true;
}

const size_t *wr_fates_of(const struct wr_batch *batch)
{
    size_t *const fates = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *fates);

    if (fates == NULL || batch->mode == WR_CHARGE_STOP) {
        return fates;
    }
    if (!is_ascending(batch)) {
        return name_in_order(batch, fates) ? fates : NULL;
    }
    for (size_t i = 1; i < batch->n_takes; i++) {
        fates[i] = batch->takes[i].group == batch->takes[i - 1].group ? fates[i - 1] : i;
    }
    return fates;
}

bool wr_fates_are_bound(const struct wr_batch *batch)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        if (batch->takes[i].limit.count == WR_COUNT_ALL_OR_NOTHING) {
            return true;
        }
    }
    return false;
}
