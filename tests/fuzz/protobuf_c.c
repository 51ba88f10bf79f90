/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/protobuf_c.h"

#include <stddef.h>
#include <string.h>

bool protobuf_c_agrees_on_text(struct wr_str ours, const char *theirs)
{
    const size_t len = strlen(theirs);

    return len <= ours.len && (len == 0 || memcmp(ours.ptr, theirs, len) == 0) &&
           (len == ours.len || ours.ptr[len] == '\0');
}

bool protobuf_c_agrees_on_number(uint64_t ours, uint64_t theirs)
{
    return ours == theirs || ours == 0 || theirs == 0;
}
