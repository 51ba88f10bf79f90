/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/stop_doubt.h"

#include "base/log_notes.h"

void wr_stop_doubt_note(const struct wr_rules *rules, struct wr_diag *diag)
{
    const struct wr_trial *const trial = wr_rules_first_trial(rules);

    if (trial == NULL) {
        return;
    }
    wr_diag_add(diag, WR_SEVERITY_WARNING, (struct wr_place){.file = trial->where}, trial->path,
                "turn the option off, or take such rules out of requests with others",
                "with --stop-increment-when-over-limit a limit under %s that is over keeps the "
                "other limits of its request from being charged%s: they may never fill",
                trial->is_shadow ? "`shadow_mode`" : "`quota_mode`",
                trial->is_shadow ? ", though the request passes"
                                 : " when another quota lets the request pass");
}

void wr_stop_doubt_log(const struct wr_rules *rules)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    wr_stop_doubt_note(rules, &diag);
    wr_log_notes(&diag, NULL);
    wr_diag_fini(&diag);
}
