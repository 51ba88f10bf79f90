/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One limit under check, and what its checks have in common. Private to limit_check.c,
 * loss_check.c, twin_check.c and window_check.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_LIMIT_PASS_H
#define WR_RULES_LIMIT_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "limit/limit.h"
#include "rules/check.h"
#include "rules/draft.h"

struct wr_limit_pass {
    struct wr_check *check;
    const struct wr_check_subject *of_limit;
    const struct wr_draft_limit *draft;
    struct wr_limit limit; /* what it comes to as far as it can be read */
    const char *name;      /* for messages that have nothing else to name */
};

/* The subject of a note at `place`, or at that of the limit when there is none. */
struct wr_check_subject wr_limit_pass_at(const struct wr_limit_pass *pass, struct wr_place place);

/* An error on `place`: `name` is there, and does not go with what stands in `beside`. */
void wr_limit_pass_refuse(const struct wr_limit_pass *pass, struct wr_place place, const char *name,
                          const char *beside, const char *hint);

/* The length that `text` says, 1 ms or more; false when it says none, which is noted. */
bool wr_limit_pass_duration(const struct wr_limit_pass *pass, const struct wr_draft_text *text,
                            const char *name, int64_t *out_us);

#endif
