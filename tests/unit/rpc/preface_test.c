/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/preface.h"

#include <criterion/criterion.h>

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static const struct {
    struct wr_str bytes;
    enum wr_preface expected;
} rows[] = {
    {WR_STR(""), WR_PREFACE_SHORT},
    {WR_STR("P"), WR_PREFACE_SHORT},
    {WR_STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r"), WR_PREFACE_SHORT},
    {WR_STR(PREFACE), WR_PREFACE_SHORT},
    {WR_STR(PREFACE "\0\0\0\4\0\0\0\0"), WR_PREFACE_SHORT},
    {WR_STR(PREFACE "\0\0\0\4\0\0\0\0\0"), WR_PREFACE_HTTP2},
    {WR_STR(PREFACE "\0\0\0\4\0\0\0\0\0more"), WR_PREFACE_HTTP2},
    {WR_STR(PREFACE "\0\0\6\4\0\0\0\0\0"), WR_PREFACE_HTTP2},
    {WR_STR(PREFACE "\0\x40\0\4\0\0\0\0\0"), WR_PREFACE_HTTP2},
    {WR_STR(PREFACE "\0\x40\1\4\0\0\0\0\0"), WR_PREFACE_NO_SETTINGS},
    {WR_STR(PREFACE "\1\0\0\4\0\0\0\0\0"), WR_PREFACE_NO_SETTINGS},
    {WR_STR(PREFACE "\0\0\0\4\1\0\0\0\0"), WR_PREFACE_NO_SETTINGS}, /* an ACK */
    {WR_STR(PREFACE "\0\0\0\4\0\0\0\0\1"), WR_PREFACE_NO_SETTINGS},
    {WR_STR(PREFACE "\0\0\x8\6\0\0\0\0\0"), WR_PREFACE_NO_SETTINGS}, /* PING */
    {WR_STR(PREFACE "GET / HTTP/1.1\r\n"), WR_PREFACE_NO_SETTINGS},
    {WR_STR("G"), WR_PREFACE_SHORT},
    {WR_STR("GE"), WR_PREFACE_SHORT},
    {WR_STR("GET"), WR_PREFACE_HTTP1},
    {WR_STR("GET / HTTP/1.1\r\n"), WR_PREFACE_HTTP1},
    {WR_STR("POST /x HTTP/1.1\r\n"), WR_PREFACE_HTTP1},
    {WR_STR("PU"), WR_PREFACE_SHORT},
    {WR_STR("PUT"), WR_PREFACE_HTTP1},
    {WR_STR("G /"), WR_PREFACE_OTHER},
    {WR_STR("get / HTTP/1.1\r\n"), WR_PREFACE_OTHER},
    {WR_STR("\x16"), WR_PREFACE_SHORT},
    {WR_STR("\x16\x03"), WR_PREFACE_TLS},
    {WR_STR("\x16\x03\x01\x02\x00"), WR_PREFACE_TLS},
    {WR_STR("\x16\x04"), WR_PREFACE_OTHER},
    {WR_STR("\0"), WR_PREFACE_OTHER},
    {WR_STR("\xff\xfe\xfd\xfc"), WR_PREFACE_OTHER},
    {WR_STR("SSH-2.0-x\r\n"), WR_PREFACE_OTHER},
};

Test(preface, tells_what_a_client_speaks)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_preface_of(rows[i].bytes), rows[i].expected, "row %zu: %.*s gives %d", i,
                     (int) rows[i].bytes.len, rows[i].bytes.ptr,
                     (int) wr_preface_of(rows[i].bytes));
    }
}

static const struct {
    struct wr_str bytes;
    size_t expected;
} lengths[] = {
    {WR_STR(PREFACE "\0\0\0\4\0\0\0\0\0"), 33},
    {WR_STR(PREFACE "\0\0\x12\4\0\0\0\0\0"), 33 + 18},
    {WR_STR(PREFACE "\0\x40\0\4\0\0\0\0\0"), 33 + 16384},
    {WR_STR(PREFACE "\0\0\xff\4\0\0\0\0\0"), 33 + 255},
};

Test(preface, ends_with_the_settings)
{
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        cr_assert_eq(wr_preface_len(lengths[i].bytes), lengths[i].expected, "row %zu", i);
    }
}
