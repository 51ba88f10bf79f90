/* SPDX-License-Identifier: Apache-2.0 */
#include "header_name.h"

#include <stddef.h>
#include <string.h>

#define LEN_MAX 256

static bool is_token(struct wr_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        const bool is_digit = c >= '0' && c <= '9';

        if (!is_letter && !is_digit && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return name.len > 0 && name.len <= LEN_MAX;
}

/* Another field of that name breaks the response, or is dropped on the way (RFC 9110 section 7.6.1,
 * RFC 9113 section 8.2.2, gRPC over HTTP/2). */
static bool is_reserved(struct wr_str name)
{
    static const char *const names[] = {
        "connection", "content-encoding",  "content-length", "content-type",     "date",
        "host",       "http2-settings",    "keep-alive",     "proxy-connection", "te",
        "trailer",    "transfer-encoding", "upgrade",
    };
    static const struct wr_str prefix = WR_STR("grpc-");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (wr_str_equal_nocase(name, wr_str_of(names[i]))) {
            return true;
        }
    }
    return name.len >= prefix.len &&
           wr_str_equal_nocase((struct wr_str){.ptr = name.ptr, .len = prefix.len}, prefix);
}

bool wr_header_name_is_free(struct wr_str name)
{
    return is_token(name) && !is_reserved(name);
}
