/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/end.h"

#include <stddef.h>
#include <string.h>

#include <grpc/status.h>

static bool has(struct wr_str text, const char *part)
{
    const size_t len = strlen(part);

    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.ptr + i, part, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Servers in Go write it small, of what they get or send themselves. */
bool wr_xds_end_is_too_large(const struct wr_xds_end *end)
{
    return end->status == GRPC_STATUS_RESOURCE_EXHAUSTED &&
           has(end->text, "Received message larger than max");
}

bool wr_xds_end_has_bad_files(const struct wr_xds_end *end)
{
    return has(end->text, "empty address list");
}
