/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources that a control plane sends, one a domain, with what is in force of each. They come
 * all at once; one that has an error, for itself or against others, stays at its own last good
 * version, and the others take effect. What is in force is kept as the bytes that came: drafts of
 * it are made anew when there is something to compare.
 *
 * Invariant: what is in force agrees with each other, and is what the last snapshot was made of.
 * Threads: owner thread only.
 */
#ifndef WR_XDS_RESOURCES_H
#define WR_XDS_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/str.h"
#include "rules/load.h"
#include "rules/rules.h"

struct wr_xds_resource;

struct wr_xds_resources {
    const struct wr_load_options *load; /* borrowed; its paths mean nothing here */
    struct wr_xds_resource *in_force;   /* owned; by name */
    size_t n;
    bool is_in_force; /* a snapshot was made */
};

struct wr_xds_change {
    struct wr_rules *rules; /* one reference, the caller's; NULL: all stays as it is */
    size_t n_resources, n_refused;
};

void wr_xds_resources_init(struct wr_xds_resources *resources, const struct wr_load_options *load);

void wr_xds_resources_fini(struct wr_xds_resources *resources);

/*
 * Takes the `n` messages for all there is: what is not among them is gone. What is wrong with those
 * that changed goes to `diag`. When there are some and none is good, or a bad one has neither name
 * nor domain, what was in force stays.
 * WR_ERR_NO_MEMORY, WR_ERR_SYSTEM: nothing was taken.
 */
WR_MUST_USE enum wr_err wr_xds_resources_take(struct wr_xds_resources *resources,
                                              const struct wr_str *messages, size_t n,
                                              struct wr_diag *diag,
                                              struct wr_xds_change *out_change);

#endif
