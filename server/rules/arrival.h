/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a file came to where it is: whole, or perhaps written there piece by piece. Where nothing
 * shows that it is whole, it may still be being written, whatever became of the file before it:
 * renamed, moved elsewhere or removed.
 *
 * Threads: owner thread only; may block on the file system.
 */
#ifndef WR_RULES_ARRIVAL_H
#define WR_RULES_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "rules/rule_files.h"

struct wr_arrival {
    uint64_t device, inode; /* 0: not known */
    struct wr_hash way;     /* of the path without links; 0: not known */
    bool is_moved; /* its ctime is later than its mtime, as a rename makes it and writing does not,
                      though not visibly within a tick of the system's clock */
};

/* Of the file at `path`, which was read as `text`; `before` is what was there until now. */
struct wr_arrival wr_arrival_of(const struct wr_hash_key *key, const char *path,
                                const struct wr_file_text *text, const struct wr_arrival *before);

/* True when the file shows that it came whole in place of the one before: it is another one, and
 * was renamed, or a link on the way there was turned. */
bool wr_arrival_is_whole(const struct wr_arrival *arrival, const struct wr_arrival *before);

/* True when it is the one before. */
bool wr_arrival_is_same_file(const struct wr_arrival *arrival, const struct wr_arrival *before);

#endif
