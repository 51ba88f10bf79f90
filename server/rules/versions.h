/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was made of one rule file: the text in force, one that waits for others to give way, and the
 * one that is being taken.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_VERSIONS_H
#define WR_RULES_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rules/draft.h"

/* One text of a file, parsed. */
struct wr_version {
    struct wr_arena arena; /* of the draft */
    struct wr_draft draft;
};

/* Which version a file goes on with. */
enum wr_version_choice {
    WR_CHOICE_NONE,
    WR_CHOICE_IN_FORCE,
    WR_CHOICE_CANDIDATE,
};

struct wr_versions {
    struct wr_version *in_force; /* owned; NULL: none */
    /* Owned; good in itself, and at odds with other files; NULL: none. May do once they change. */
    struct wr_version *waiting;
    bool is_refused; /* the text that was taken is not in force */
    /* while files are taken */
    bool is_taken, is_candidate; /* its text is taken now; its first choice was what may come in */
    enum wr_version_choice choice;
    struct wr_version *parsed; /* owned; of the text that is taken now, when it is good in itself */
};

/* What `versions` has that is not in force and could be; NULL: nothing. */
static inline struct wr_version *wr_versions_candidate(const struct wr_versions *versions)
{
    return versions->is_taken ? versions->parsed : versions->waiting;
}

/* The draft that was chosen; NULL: none. */
static inline struct wr_draft *wr_versions_chosen(const struct wr_versions *versions)
{
    if (versions->choice == WR_CHOICE_NONE) {
        return NULL;
    }
    return versions->choice == WR_CHOICE_IN_FORCE ? &versions->in_force->draft
                                                  : &wr_versions_candidate(versions)->draft;
}

#endif
