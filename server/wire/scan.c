/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/scan.h"

#include <stddef.h>

#define NUMBER_MAX ((UINT32_C(1) << 29) - 1)
#define VARINT_BYTES_MAX 10

const char *wr_fault_text(enum wr_fault fault)
{
    static const char *const texts[] = {
#define WR_FAULT_NAME(name, text) [name] = (text),
        WR_FAULT_TABLE(WR_FAULT_NAME)
#undef WR_FAULT_NAME
    };

    return texts[fault];
}

const unsigned char *wr_scan_fail(struct wr_scan *scan, enum wr_fault fault,
                                  const unsigned char *at)
{
    if (scan->fault == WR_FAULT_NONE) {
        *scan = (struct wr_scan){.fault = fault, .at = at};
    }
    return NULL;
}

const unsigned char *wr_scan_long_varint(struct wr_scan *scan, const unsigned char *at,
                                         const unsigned char *end, uint64_t *out_value)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_BYTES_MAX; i++) {
        if (at + i == end) {
            return wr_scan_fail(scan, WR_FAULT_CUT, end);
        }

        const uint64_t bits = at[i] & 0x7f;

        value |= bits << 7 * i;
        if (at[i] < 0x80) {
            if (i == VARINT_BYTES_MAX - 1 && bits > 1) {
                break;
            }
            *out_value = value;
            return at + i + 1;
        }
    }
    return wr_scan_fail(scan, WR_FAULT_VARINT, at);
}

const unsigned char *wr_scan_long_tag(struct wr_scan *scan, const unsigned char *at,
                                      const unsigned char *end, uint32_t *out_tag)
{
    uint64_t tag = 0;
    const unsigned char *const next = wr_scan_varint(scan, at, end, &tag);

    if (next == NULL) {
        return NULL;
    }
    if (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX) {
        return wr_scan_fail(scan, WR_FAULT_NUMBER, at);
    }
    if ((tag & 7) > WR_WIRE_FIXED32) {
        return wr_scan_fail(scan, WR_FAULT_WIRE_TYPE, at);
    }
    *out_tag = (uint32_t) tag;
    return next;
}

const unsigned char *wr_scan_long_length(struct wr_scan *scan, const unsigned char *at,
                                         const unsigned char *end, const unsigned char **out_end)
{
    uint64_t len = 0;
    const unsigned char *const next = wr_scan_varint(scan, at, end, &len);

    if (next == NULL) {
        return NULL;
    }
    if (len > (uint64_t) (end - next)) {
        return wr_scan_fail(scan, WR_FAULT_LENGTH, at);
    }
    *out_end = next + len;
    return next;
}

static const unsigned char *skip_bytes(struct wr_scan *scan, const unsigned char *at,
                                       const unsigned char *end, ptrdiff_t n)
{
    return n <= end - at ? at + n : wr_scan_fail(scan, WR_FAULT_CUT, end);
}

/* Any field but a group. */
static const unsigned char *skip_value(struct wr_scan *scan, const unsigned char *at,
                                       const unsigned char *end, uint32_t wire_type)
{
    uint64_t number = 0;
    const unsigned char *behind = NULL;

    switch (wire_type) {
    case WR_WIRE_VARINT:
        return wr_scan_varint(scan, at, end, &number);
    case WR_WIRE_FIXED64:
        return skip_bytes(scan, at, end, 8);
    case WR_WIRE_FIXED32:
        return skip_bytes(scan, at, end, 4);
    default:
        return wr_scan_length(scan, at, end, &behind) == NULL ? NULL : behind;
    }
}

/* The open groups are a stack of field numbers; a group must be closed by its own number. */
const unsigned char *wr_scan_skip(struct wr_scan *scan, const unsigned char *at,
                                  const unsigned char *end, uint32_t tag)
{
    uint32_t open[WR_SCAN_DEPTH_MAX];
    size_t depth = 0;

    for (;;) {
        const uint32_t wire_type = tag & 7;

        if (wire_type == WR_WIRE_GROUP) {
            if (depth == WR_SCAN_DEPTH_MAX) {
                return wr_scan_fail(scan, WR_FAULT_DEPTH, at);
            }
            open[depth++] = tag >> 3;
        } else if (wire_type == WR_WIRE_GROUP_END) {
            if (depth == 0 || open[--depth] != tag >> 3) {
                return wr_scan_fail(scan, WR_FAULT_GROUP, at);
            }
        } else {
            at = skip_value(scan, at, end, wire_type);
        }
        if (at == NULL || depth == 0) {
            return at;
        }
        if (at == end) {
            return wr_scan_fail(scan, WR_FAULT_GROUP, end);
        }
        at = wr_scan_tag(scan, at, end, &tag);
        if (at == NULL) {
            return NULL;
        }
    }
}
