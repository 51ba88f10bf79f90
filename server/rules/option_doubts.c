/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/option_doubts.h"

#include "base/log_notes.h"

#define MAX_DOUBTS 2

static void note_stop(const struct wr_rules *rules, struct wr_diag *diag)
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

static void note_slots(const struct wr_rules *rules, struct wr_diag *diag)
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

void wr_option_doubts_note(const struct wr_rules *rules, const struct wr_doubtful_options *options,
                           struct wr_diag *diag)
{
    if (options->stops_when_over) {
        note_stop(rules, diag);
    }
    if (options->keeps_groups_apart) {
        note_slots(rules, diag);
    }
}

void wr_option_doubts_log(const struct wr_rules *rules, const struct wr_doubtful_options *options)
{
    struct wr_diag diag;

    wr_diag_init(&diag, MAX_DOUBTS);
    wr_option_doubts_note(rules, options, &diag);
    wr_log_notes(&diag, NULL);
    wr_diag_fini(&diag);
}
