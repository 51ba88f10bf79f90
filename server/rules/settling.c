/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/settling.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When a file that lacks counts as removed. */
static int64_t gone_at(const struct wr_file_set *set, const struct wr_file *file)
{
    const int64_t at_us =
        earlier(set->went_us + WR_FILE_SETTLE_WRITTEN_US, file->since_us + WR_FILE_SET_PATIENCE_US);

    return set->is_refilled && set->n_present > 0
               ? later(set->refilled_us + WR_FILE_SETTLE_WRITTEN_US, at_us)
               : at_us;
}

/* When a changed file has settled. */
static int64_t settled_at(const struct wr_file_set *set, const struct wr_file *file)
{
    if (file->seen.state == WR_FILE_ABSENT) {
        return gone_at(set, file);
    }
    if (file->may_be_written) {
        return file->since_us + WR_FILE_SETTLE_WRITTEN_US;
    }
    return earlier(file->since_us + WR_FILE_SETTLE_US, file->changed_us + WR_FILE_RESTLESS_US);
}

bool wr_file_is_settled(const struct wr_file_set *set, const struct wr_file *file, int64_t now_us)
{
    return wr_file_is_changed(file) && settled_at(set, file) <= now_us;
}

bool wr_file_set_is_due(const struct wr_file_set *set, int64_t now_us, int64_t *out_due_us)
{
    size_t n_changed = 0, n_settled = 0;
    int64_t next_us = INT64_MAX, patience_us = INT64_MAX;

    for (size_t i = 0; i < set->n; i++) {
        const struct wr_file *const file = set->files[i];

        if (!wr_file_is_changed(file)) {
            continue;
        }

        const int64_t at_us = settled_at(set, file);

        n_changed++;
        if (at_us <= now_us) {
            n_settled++;
            patience_us = earlier(patience_us, file->changed_us + WR_FILE_SET_PATIENCE_US);
        } else {
            next_us = earlier(next_us, at_us);
        }
    }
    if (n_settled > 0 && (n_settled == n_changed || patience_us <= now_us)) {
        return true;
    }
    *out_due_us = earlier(next_us, patience_us);
    return false;
}
