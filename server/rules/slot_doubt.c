/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/slot_doubt.h"

#include "base/log_notes.h"

void wr_slot_doubt_note(const struct wr_rules *rules, struct wr_diag *diag)
{
    const struct wr_bound *const bound = wr_rules_first_bound(rules);

    if (bound == NULL) {
        return;
    }
    wr_diag_add(
        diag, WR_SEVERITY_WARNING, (struct wr_place){.file = bound->where}, bound->path,
        "leave --redis-keys out when the last envoyproxy/ratelimit has gone, or give such "
        "limits another `count` till then",
        "with --redis-keys reference in a cluster `all_or_nothing`, which the limits of one "
        "list are too, does not hold: each limit is charged by itself, though another "
        "refuses the request");
}

void wr_slot_doubt_log(const struct wr_rules *rules)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    wr_slot_doubt_note(rules, &diag);
    wr_log_notes(&diag, NULL);
    wr_diag_fini(&diag);
}
