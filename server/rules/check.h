/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes made while drafts are checked: what each is about, and how it is added. Private to what
 * checks drafts.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CHECK_H
#define WR_RULES_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "rules/draft.h"
#include "rules/rule_path.h"

struct wr_check {
    struct wr_diag *diag;
    int64_t min_window_us; /* the shortest window that the store can count in */
    bool is_between;       /* what is warned of takes several drafts, and marks none of them */
};

/* What a note is about. */
struct wr_check_subject {
    struct wr_draft *draft;
    struct wr_place place;
    const struct wr_rule_path *path; /* NULL: the file as such */
};

/* How much of `text` a message shows, for printf's "%.*s". */
int wr_check_shown(struct wr_str text);

/* Refuses the draft, and says why unless that was told before. `hint` may be NULL. */
void wr_check_error(struct wr_check *check, const struct wr_check_subject *subject,
                    const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Marks the draft, unless it takes others as well. `hint` may be NULL. */
void wr_check_warn(struct wr_check *check, const struct wr_check_subject *subject, const char *hint,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
