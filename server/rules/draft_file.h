/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule file into a checked draft, for those who look at a file by itself.
 *
 * Threads: any thread, no state; reading may block.
 */
#ifndef WR_RULES_DRAFT_FILE_H
#define WR_RULES_DRAFT_FILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/err.h"
#include "rules/config_yaml.h"
#include "rules/draft.h"

/*
 * Reads `path`; the draft lives in `arena`, and borrows `path`. WR_ERR_IO when it cannot be read
 * and WR_ERR_MALFORMED when it is refused, both noted; WR_ERR_NO_MEMORY.
 */
WR_MUST_USE enum wr_err wr_draft_file_read(const char *path, const struct wr_config_bounds *bounds,
                                           struct wr_arena *arena, struct wr_diag *diag,
                                           struct wr_draft *out_draft);

#endif
