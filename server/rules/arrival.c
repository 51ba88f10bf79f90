/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "rules/arrival.h"

#include <stdlib.h>

#include "base/str.h"

static const struct wr_hash nowhere;

static struct wr_hash way_of(const struct wr_hash_key *key, const char *path)
{
    char *const real = realpath(path, NULL);
    const struct wr_hash way = real == NULL ? nowhere : wr_hash_of(key, wr_str_of(real));

    free(real);
    return way;
}

bool wr_arrival_is_same_file(const struct wr_arrival *arrival, const struct wr_arrival *before)
{
    return arrival->device == before->device && arrival->inode == before->inode;
}

struct wr_arrival wr_arrival_of(const struct wr_hash_key *key, const char *path,
                                const struct wr_file_text *text, const struct wr_arrival *before)
{
    struct wr_arrival arrival = {
        .device = text->device, .inode = text->inode, .is_moved = text->is_moved};

    arrival.way = wr_arrival_is_same_file(&arrival, before) ? before->way : way_of(key, path);
    return arrival;
}

bool wr_arrival_is_whole(const struct wr_arrival *arrival, const struct wr_arrival *before)
{
    const bool is_turned = !wr_hash_equal(arrival->way, before->way) &&
                           !wr_hash_equal(arrival->way, nowhere) &&
                           !wr_hash_equal(before->way, nowhere);

    return before->inode != 0 && !wr_arrival_is_same_file(arrival, before) &&
           (arrival->is_moved || is_turned);
}
