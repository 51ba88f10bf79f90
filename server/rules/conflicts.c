/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/conflicts.h"

#include <stdlib.h>

/* Gathers the drafts of the files that go on with `choice`, in order, behind those `n` there. */
static size_t gather(const struct wr_conflicts *conflicts, enum wr_version_choice choice, size_t n)
{
    for (size_t i = 0; i < conflicts->n; i++) {
        const struct wr_versions *const versions = conflicts->versions[i];

        if (versions->choice == choice) {
            conflicts->drafts[n++] = wr_versions_chosen(versions);
        }
    }
    return n;
}

/* Whoever was refused goes on with what it had. Returns whether anybody was, and sets
 * `*lacks_memory` when that is why. */
static bool give_way(const struct wr_conflicts *conflicts, bool *lacks_memory)
{
    bool has_changed = false;

    for (size_t i = 0; i < conflicts->n; i++) {
        struct wr_versions *const versions = conflicts->versions[i];
        struct wr_draft *const draft =
            versions->choice == WR_CHOICE_CANDIDATE ? wr_versions_chosen(versions) : NULL;

        if (draft != NULL && draft->is_refused) {
            *lacks_memory = *lacks_memory || draft->lacks_memory;
            draft->is_refused = draft->lacks_memory = false; /* for itself it is good */
            versions->choice = versions->in_force != NULL ? WR_CHOICE_IN_FORCE : WR_CHOICE_NONE;
            has_changed = true;
        }
    }
    return has_changed;
}

/* Holds the files against each other until they agree: each round at least one gives way. */
static bool agree(const struct wr_conflicts *conflicts, struct wr_diag *diag)
{
    bool lacks_memory = false;

    do {
        const size_t n_in_force = gather(conflicts, WR_CHOICE_IN_FORCE, 0);
        const size_t n = gather(conflicts, WR_CHOICE_CANDIDATE, n_in_force);

        wr_drafts_compare(conflicts->drafts, n, conflicts->merges_domains, diag);
        for (size_t i = 0; i < n_in_force; i++) {
            lacks_memory = lacks_memory || conflicts->drafts[i]->lacks_memory;
            conflicts->drafts[i]->lacks_memory = conflicts->drafts[i]->is_refused = false;
        }
    } while (give_way(conflicts, &lacks_memory) && !lacks_memory);
    return !lacks_memory;
}

/* Whether the candidate of `own` agrees with what the others of its domain were chosen to go on
 * with, which agree with each other. Adds to `*work`. */
static bool fits(const struct wr_conflicts *conflicts, const struct wr_versions *own, size_t *work,
                 bool *lacks_memory)
{
    struct wr_draft *const candidate = &wr_versions_candidate(own)->draft;
    bool is_refused;
    struct wr_diag muted;
    size_t n = 0;

    wr_diag_init(&muted, 0);
    for (size_t i = 0; i < conflicts->n; i++) {
        const struct wr_versions *const versions = conflicts->versions[i];
        struct wr_draft *const draft = versions == own ? NULL : wr_versions_chosen(versions);

        if (draft != NULL && wr_str_equal(draft->domain, candidate->domain)) {
            conflicts->drafts[n++] = draft;
            *work += draft->n_rules;
        }
    }
    *work += conflicts->n + candidate->n_rules;
    conflicts->drafts[n++] = candidate;
    wr_drafts_compare(conflicts->drafts, n, conflicts->merges_domains, &muted);
    is_refused = candidate->is_refused;
    for (size_t i = 0; i < n; i++) {
        *lacks_memory = *lacks_memory || conflicts->drafts[i]->lacks_memory;
        conflicts->drafts[i]->lacks_memory = conflicts->drafts[i]->is_refused = false;
    }
    wr_diag_fini(&muted);
    return !is_refused;
}

/* Lets those in whose way is free by now, the first in order first: each round but the last at
 * least one, whose old version may leave room for more. */
static bool let_in(const struct wr_conflicts *conflicts)
{
    bool has_changed = true, lacks_memory = false;
    size_t work = 0;

    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < conflicts->n; i++) {
            struct wr_versions *const versions = conflicts->versions[i];

            if (!versions->is_candidate || versions->choice == WR_CHOICE_CANDIDATE) {
                continue;
            }
            if (work > WR_CONFLICTS_MAX_WORK) {
                return true;
            }
            if (fits(conflicts, versions, &work, &lacks_memory)) {
                versions->choice = WR_CHOICE_CANDIDATE;
                has_changed = true;
            }
            if (lacks_memory) {
                return false;
            }
        }
    }
    return true;
}

/* Holds the first choices against each other once more and notes what stands against those that
 * stay out. The choices are as they were behind. */
static bool tell(const struct wr_conflicts *conflicts)
{
    enum wr_version_choice *const choices = malloc((conflicts->n + 1) * sizeof *choices);
    bool has_memory = choices != NULL;

    for (size_t i = 0; i < conflicts->n && has_memory; i++) {
        struct wr_versions *const versions = conflicts->versions[i];

        choices[i] = versions->choice;
        if (versions->is_candidate) {
            wr_versions_candidate(versions)->draft.is_told =
                !versions->is_taken || versions->choice == WR_CHOICE_CANDIDATE;
            versions->choice = WR_CHOICE_CANDIDATE;
        }
    }
    has_memory = has_memory && agree(conflicts, conflicts->diag);
    for (size_t i = 0; i < conflicts->n && has_memory; i++) {
        conflicts->versions[i]->choice = choices[i];
    }
    free(choices);
    return has_memory;
}

/* Notes who is a candidate; how many are. */
static size_t begin(const struct wr_conflicts *conflicts)
{
    size_t n = 0;

    for (size_t i = 0; i < conflicts->n; i++) {
        struct wr_versions *const versions = conflicts->versions[i];

        versions->is_candidate = versions->choice == WR_CHOICE_CANDIDATE;
        n += versions->is_candidate;
        if (versions->is_candidate) {
            wr_versions_candidate(versions)->draft.is_told = true;
        }
    }
    return n;
}

bool wr_conflicts_settle(const struct wr_conflicts *conflicts)
{
    const size_t n_candidates = begin(conflicts);
    struct wr_diag muted;

    wr_diag_init(&muted, 0);

    const bool has_memory = agree(conflicts, &muted);

    wr_diag_fini(&muted);
    if (!has_memory || gather(conflicts, WR_CHOICE_CANDIDATE, 0) == n_candidates) {
        return has_memory;
    }
    /* Without merging who holds a domain is followed by who takes it back, and nothing is free. */
    return (!conflicts->merges_domains || let_in(conflicts)) && tell(conflicts);
}
