/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule files with what is in force of each. A file whose new text has an error, for itself or
 * against others, keeps its own last good version, and the others take effect; between files those
 * in force win over those that change, then the first in order.
 *
 * Invariant: the versions in force agree with each other, and are what the last snapshot was made
 * of. Threads: owner thread only; may block on the file system. Time is an argument.
 */
#ifndef WR_RULES_RULE_SET_H
#define WR_RULES_RULE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "rules/file_set.h"
#include "rules/load.h"
#include "rules/rules.h"

struct wr_rule_set {
    const struct wr_load_options *options; /* borrowed */
    struct wr_file_set files;
    bool is_in_force; /* a snapshot was made */
};

/* What came of taking the files. */
struct wr_rule_set_change {
    struct wr_rules
        *rules;       /* one reference, the caller's; NULL: what was in force stays as it is */
    size_t n_files;   /* that are there */
    size_t n_refused; /* of them, whose text is not in force */
    size_t n_newly_refused; /* of them, whose text was taken now */
};

/* What whoever looks again and again knows besides; all may be NULL. See wr_file_set_options. */
struct wr_rule_set_hooks {
    bool (*was_moved_in)(void *context, const char *path);
    bool (*is_stopping)(void *context);
    void *context; /* borrowed */
};

/* WR_ERR_SYSTEM. `options` must outlive the set; `hooks` may be NULL. */
WR_MUST_USE enum wr_err wr_rule_set_init(struct wr_rule_set *set,
                                         const struct wr_load_options *options,
                                         const struct wr_rule_set_hooks *hooks);

void wr_rule_set_fini(struct wr_rule_set *set);

/*
 * Takes the files that have settled, or all as they were seen when `takes_all`. What is wrong with
 * them goes to `diag`; what was noted before of a file that has not changed is not noted again.
 * When there are files and none is good, what was in force stays. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM,
 * also when it is to stop, which it does between two files: nothing was taken, try again.
 */
WR_MUST_USE enum wr_err wr_rule_set_take(struct wr_rule_set *set, int64_t now_us, bool takes_all,
                                         struct wr_diag *diag,
                                         struct wr_rule_set_change *out_change);

#endif
