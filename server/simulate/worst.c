/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/worst.h"

#include <stdlib.h>

#define FIRST_CAPACITY 1024

bool wr_passed_add(struct wr_passed_list *list, int64_t at_us, uint64_t hits)
{
    if (list->n > 0 && list->items[list->n - 1].at_us == at_us) {
        list->items[list->n - 1].hits += hits;
        return true;
    }
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity == 0 ? FIRST_CAPACITY : 2 * list->capacity;
        struct wr_passed *const items = realloc(list->items, capacity * sizeof *items);

        if (items == NULL) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = (struct wr_passed){.at_us = at_us, .hits = hits};
    return true;
}

void wr_passed_fini(struct wr_passed_list *list)
{
    free(list->items);
    *list = (struct wr_passed_list){0};
}

struct wr_worst wr_passed_worst(const struct wr_passed_list *list, int64_t length_us)
{
    struct wr_worst worst = {0};
    uint64_t sum = 0;
    size_t first = 0;

    for (size_t i = 0; i < list->n; i++) {
        sum += list->items[i].hits;
        while (list->items[i].at_us - list->items[first].at_us >= length_us) {
            sum -= list->items[first++].hits;
        }
        if (sum > worst.hits) {
            worst = (struct wr_worst){.hits = sum, .from_us = list->items[first].at_us};
        }
    }
    return worst;
}
