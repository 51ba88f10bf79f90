/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/load.h"

#include "rules/rule_set.h"

static enum wr_err load(struct wr_rule_set *set, struct wr_diag *diag,
                        struct wr_load_result *out_result)
{
    struct wr_rule_set_change change = {0};
    enum wr_err err = wr_file_set_look(&set->files, 0, diag);

    if (err == WR_OK) {
        err = wr_rule_set_take(set, 0, true, diag, &change);
    }
    /* The files that there are were loaded all the same, so that all is noted that is wrong. */
    if (err == WR_OK && set->files.n_missing_roots > 0) {
        wr_rules_release(change.rules);
        return set->files.root_err;
    }
    /* With files and none of them good nothing comes into force. */
    if (err == WR_OK && change.rules == NULL) {
        err = wr_rules_new(NULL, 0, &change.rules);
    }
    if (err == WR_OK) {
        *out_result = (struct wr_load_result){
            .rules = change.rules, .n_files = change.n_files, .n_refused = change.n_refused};
    }
    return err;
}

enum wr_err wr_rules_load(const struct wr_load_options *options, struct wr_diag *diag,
                          struct wr_load_result *out_result)
{
    struct wr_rule_set set;
    enum wr_err err = wr_rule_set_init(&set, options, NULL);

    if (err == WR_OK) {
        err = load(&set, diag, out_result);
    }
    wr_rule_set_fini(&set);
    return err;
}
