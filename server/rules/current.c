/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/current.h"

#include <stddef.h>

void wr_current_rules_init(struct wr_current_rules *current)
{
    atomic_init(&current->generation, 0);
    wr_mutex_init(&current->mutex, WR_LOCK_RULES);
    current->rules = NULL;
}

void wr_current_rules_fini(struct wr_current_rules *current)
{
    wr_rules_release(current->rules);
    current->rules = NULL;
    wr_mutex_fini(&current->mutex);
}

void wr_current_rules_publish(struct wr_current_rules *current, struct wr_rules **rules)
{
    wr_mutex_lock(&current->mutex);

    struct wr_rules *const old = current->rules;

    current->rules = *rules;
    /* Release: pairs with the acquire in renew. */
    atomic_fetch_add_explicit(&current->generation, 1, memory_order_release);
    wr_mutex_unlock(&current->mutex);
    *rules = NULL;
    wr_rules_release(old);
}

struct wr_rules *wr_rules_view_renew(struct wr_rules_view *view, struct wr_current_rules *current)
{
    /* Acquire: pairs with the release in publish. */
    if (atomic_load_explicit(&current->generation, memory_order_acquire) == view->generation) {
        return view->rules;
    }

    struct wr_rules *const old = view->rules;

    wr_mutex_lock(&current->mutex);
    view->rules = current->rules == NULL ? NULL : wr_rules_acquire(current->rules);
    view->generation = atomic_load_explicit(&current->generation, memory_order_relaxed);
    wr_mutex_unlock(&current->mutex);
    wr_rules_release(old);
    return view->rules;
}

void wr_rules_view_fini(struct wr_rules_view *view)
{
    wr_rules_release(view->rules);
    *view = (struct wr_rules_view){0};
}
