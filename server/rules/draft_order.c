/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft_order.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct wr_draft_place *const x = a, *const y = b;
    const int domains = wr_str_compare(x->draft->domain, y->draft->domain);

    return domains != 0 ? domains : (x->index > y->index) - (x->index < y->index);
}

struct wr_draft_place *wr_draft_order_of(struct wr_draft *const *drafts, size_t n, size_t *out_n)
{
    struct wr_draft_place *const places = malloc((n + 1) * sizeof *places);
    size_t n_places = 0;

    if (places == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!drafts[i]->is_broken) {
            places[n_places++] = (struct wr_draft_place){.draft = drafts[i], .index = i};
        }
    }
    qsort(places, n_places, sizeof *places, compare);
    *out_n = n_places;
    return places;
}

size_t wr_draft_order_count(const struct wr_draft_place *places, size_t n)
{
    size_t count = 1;

    while (count < n && wr_str_equal(places[0].draft->domain, places[count].draft->domain)) {
        count++;
    }
    return count;
}
