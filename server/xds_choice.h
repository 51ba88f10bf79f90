/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of a control plane as the options say: where it is, what it is told.
 *
 * Threads: main.
 */
#ifndef WR_XDS_CHOICE_H
#define WR_XDS_CHOICE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "options.h"
#include "xds/client.h"

/* Fills the parts of `*out_client` that options tell, what they do not have themselves in `arena`.
 * False after a message to `err`. */
bool wr_xds_choose(const struct wr_options *options, struct wr_arena *arena, FILE *err,
                   struct wr_xds_client_options *out_client);

#endif
