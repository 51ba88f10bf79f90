/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/preface.h"

#include <stdbool.h>
#include <string.h>

/* A record of a handshake, whatever version of SSL 3 or TLS (RFC 8446, 5.1). */
#define TLS_HANDSHAKE 0x16
#define TLS_MAJOR 0x03
/* The shortest method of HTTP/1 is GET or PUT. */
#define METHOD_MIN 3

static const char preface[WR_PREFACE_SIZE + 1] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static bool begins_tls(struct wr_str bytes)
{
    return bytes.ptr[0] == TLS_HANDSHAKE && (bytes.len == 1 || bytes.ptr[1] == TLS_MAJOR);
}

/* Capital letters and then, if that is there yet, a space. */
static bool begins_http1(struct wr_str bytes)
{
    size_t n = 0;

    while (n < bytes.len && bytes.ptr[n] >= 'A' && bytes.ptr[n] <= 'Z') {
        n++;
    }
    return n == bytes.len || (n >= METHOD_MIN && bytes.ptr[n] == ' ');
}

enum wr_preface wr_preface_of(struct wr_str bytes)
{
    const size_t len = bytes.len < WR_PREFACE_SIZE ? bytes.len : WR_PREFACE_SIZE;

    if (len == 0 || memcmp(bytes.ptr, preface, len) == 0) {
        return len == WR_PREFACE_SIZE ? WR_PREFACE_HTTP2 : WR_PREFACE_SHORT;
    }
    if (begins_tls(bytes)) {
        return len == 1 ? WR_PREFACE_SHORT : WR_PREFACE_TLS;
    }
    if (begins_http1(bytes)) {
        return len < METHOD_MIN ? WR_PREFACE_SHORT : WR_PREFACE_HTTP1;
    }
    return WR_PREFACE_OTHER;
}
