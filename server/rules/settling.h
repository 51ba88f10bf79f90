/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When files that changed are good to be taken: so that a half-written file is never taken for a
 * whole one, and files that change together are taken together, and none is kept waiting for ever.
 *
 * Threads: owner thread only. Time is an argument.
 */
#ifndef WR_RULES_SETTLING_H
#define WR_RULES_SETTLING_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/file_set.h"

/* How long a file must have looked the same before it is taken: one that was put into place whole,
 * and one that may still be being written, as it is new or empty, or nothing shows that it was put
 * into place whole. One that lacks waits as long behind the last that went, since it may be about
 * to come again; and, while a directory is filled again, for the last file that comes. */
#define WR_FILE_SETTLE_US 30000
#define WR_FILE_SETTLE_WRITTEN_US 1000000

/* A file that is put into place whole again and again is taken as it is after so long. */
#define WR_FILE_RESTLESS_US 500000

/* A file that has settled waits this long, since it changed, for those that change at the same time
 * and have not. So long after the first of them removals are taken even while more follow. */
#define WR_FILE_SET_PATIENCE_US 2500000

/* True when the set has changed and can be taken now: all that changed has settled, or some has and
 * waited long enough for the rest. Else `*out_due_us` says when to look again; INT64_MAX: no need
 * that is known. */
bool wr_file_set_is_due(const struct wr_file_set *set, int64_t now_us, int64_t *out_due_us);

/* True when the file is changed and has settled. */
bool wr_file_is_settled(const struct wr_file_set *set, const struct wr_file *file, int64_t now_us);

#endif
