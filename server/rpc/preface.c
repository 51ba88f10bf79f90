/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/preface.h"

#include <stdbool.h>
#include <string.h>

/* A record of a handshake, whatever version of SSL 3 or TLS (RFC 8446, 5.1). */
#define TLS_HANDSHAKE 0x16
#define TLS_MAJOR 0x03
/* The shortest method of HTTP/1 is GET or PUT. */
#define METHOD_MIN 3

/* Of a frame's head: 3 bytes of length, type, flags, 4 bytes of stream. */
#define TYPE_AT 3
#define FLAGS_AT 4
#define STREAM_AT 5
#define HEAD_SIZE 9
#define SETTINGS 4
#define ACK 1
#define FRAME_MAX 16384

#define MAGIC_SIZE 24

static const char magic[MAGIC_SIZE + 1] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

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

static size_t payload_len(const char *head)
{
    size_t len = 0;

    for (size_t i = 0; i < TYPE_AT; i++) {
        len = len << 8 | (unsigned char) head[i];
    }
    return len;
}

static bool begins_settings(const char *head)
{
    static const char connection[HEAD_SIZE - STREAM_AT] = {0};

    return head[TYPE_AT] == SETTINGS && (head[FLAGS_AT] & ACK) == 0 &&
           payload_len(head) <= FRAME_MAX &&
           memcmp(head + STREAM_AT, connection, sizeof connection) == 0;
}

size_t wr_preface_len(struct wr_str bytes)
{
    return WR_PREFACE_SIZE + payload_len(bytes.ptr + MAGIC_SIZE);
}

enum wr_preface wr_preface_of(struct wr_str bytes)
{
    if (bytes.len == 0 ||
        memcmp(bytes.ptr, magic, bytes.len < MAGIC_SIZE ? bytes.len : MAGIC_SIZE) == 0) {
        if (bytes.len < WR_PREFACE_SIZE) {
            return WR_PREFACE_SHORT;
        }
        return begins_settings(bytes.ptr + MAGIC_SIZE) ? WR_PREFACE_HTTP2 : WR_PREFACE_NO_SETTINGS;
    }
    if (begins_tls(bytes)) {
        return bytes.len == 1 ? WR_PREFACE_SHORT : WR_PREFACE_TLS;
    }
    if (begins_http1(bytes)) {
        return bytes.len < METHOD_MIN ? WR_PREFACE_SHORT : WR_PREFACE_HTTP1;
    }
    return WR_PREFACE_OTHER;
}
