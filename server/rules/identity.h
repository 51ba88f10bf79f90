/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of a counter, written length-prefixed so that no two differ in meaning and agree in
 * bytes: domain, the matched path, window, alignment, time zone, algorithm and layer. The limit's
 * number is no part of it. A pattern stands in place of the value where values share a counter,
 * marked, so that a literal value of the same text is another counter. Of addresses that count
 * together the first bits stand in place of the value.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_IDENTITY_H
#define WR_RULES_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "limit/limit.h"
#include "rules/entry.h"
#include "rules/rules.h"

/* What is counted; all borrowed. */
struct wr_identity_parts {
    struct wr_str domain;
    const struct wr_node *node; /* what the first entries matched, as deep as it is; NULL: nothing.
                                   What matched no node is taken as it is */
    bool is_override;           /* the limit comes from the request itself: values share no pattern,
                                   as in the incumbent, but addresses count together all the same */
    const struct wr_entry *entries;
    size_t n_entries;
    const struct wr_limit *limit;
    uint32_t layer; /* place among the limits of the node that count alike */
};

/* Writes the identity into `arena`. False when memory is out. */
bool wr_identity_write(struct wr_arena *arena, const struct wr_identity_parts *parts,
                       struct wr_str *out_key);

#endif
