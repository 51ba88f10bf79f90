/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps through the bytes of any protobuf message: tags, varints, lengths, and what a reader does
 * not know. Each step takes a place and the end of the message around it and returns the place
 * behind what it read, never beyond that end; NULL when the bytes are no protobuf, with the reason
 * in a wr_scan. The steps are inline since the hot request is read with them.
 *
 * Threads: pure functions; a wr_scan belongs to one reader.
 */
#ifndef WR_WIRE_SCAN_H
#define WR_WIRE_SCAN_H

#include <stdint.h>

/* Each text continues "the request …". */
#define WR_FAULT_TABLE(X)                                                                          \
    X(WR_FAULT_NONE, "is well-formed")                                                             \
    X(WR_FAULT_CUT, "ends in the middle of a field")                                               \
    X(WR_FAULT_VARINT, "has a number that does not fit 64 bits")                                   \
    X(WR_FAULT_LENGTH, "has a field that is longer than what is left")                             \
    X(WR_FAULT_WIRE_TYPE, "has a field of an unknown wire type")                                   \
    X(WR_FAULT_NUMBER, "has a field number that is not in 1 to 536870911")                         \
    X(WR_FAULT_GROUP, "has a group that does not end as it began")                                 \
    X(WR_FAULT_DEPTH, "nests groups too deeply")                                                   \
    X(WR_FAULT_UTF8, "is not valid UTF-8")

enum wr_fault {
#define WR_FAULT_ENUM(name, text) name,
    WR_FAULT_TABLE(WR_FAULT_ENUM)
#undef WR_FAULT_ENUM
};

/* Why a step failed, and where; the first failure stays. */
struct wr_scan {
    enum wr_fault fault;
    const unsigned char *at;
};

enum wr_wire_type {
    WR_WIRE_VARINT = 0,
    WR_WIRE_FIXED64 = 1,
    WR_WIRE_BYTES = 2,
    WR_WIRE_GROUP = 3,
    WR_WIRE_GROUP_END = 4,
    WR_WIRE_FIXED32 = 5,
};

/* What stands before a field of this number and wire type. */
#define WR_TAG(number, wire_type) ((uint32_t) (number) << 3 | (uint32_t) (wire_type))

/* Groups in groups that a message may hold; more than any sender makes. */
#define WR_SCAN_DEPTH_MAX 100

const char *wr_fault_text(enum wr_fault fault);

/* Records a failure; returns NULL, for the caller to return in its turn. */
const unsigned char *wr_scan_fail(struct wr_scan *scan, enum wr_fault fault,
                                  const unsigned char *at);

/* What the inline steps below leave to a call: numbers of more than one byte. */
const unsigned char *wr_scan_long_varint(struct wr_scan *scan, const unsigned char *at,
                                         const unsigned char *end, uint64_t *out_value);
const unsigned char *wr_scan_long_tag(struct wr_scan *scan, const unsigned char *at,
                                      const unsigned char *end, uint32_t *out_tag);
const unsigned char *wr_scan_long_length(struct wr_scan *scan, const unsigned char *at,
                                         const unsigned char *end, const unsigned char **out_end);

/* Over the rest of the field whose tag was just read, groups with all that is in them. */
const unsigned char *wr_scan_skip(struct wr_scan *scan, const unsigned char *at,
                                  const unsigned char *end, uint32_t tag);

/* A number; as on the wire, 64 bits. */
static inline const unsigned char *wr_scan_varint(struct wr_scan *scan, const unsigned char *at,
                                                  const unsigned char *end, uint64_t *out_value)
{
    if (at < end && *at < 0x80) {
        *out_value = *at;
        return at + 1;
    }
    return wr_scan_long_varint(scan, at, end, out_value);
}

/* A tag, with a number in 1 to 2^29 - 1 and a wire type that exists. */
static inline const unsigned char *wr_scan_tag(struct wr_scan *scan, const unsigned char *at,
                                               const unsigned char *end, uint32_t *out_tag)
{
    if (at < end && *at < 0x80 && *at >= WR_TAG(1, 0) && (*at & 7) <= WR_WIRE_FIXED32) {
        *out_tag = *at;
        return at + 1;
    }
    return wr_scan_long_tag(scan, at, end, out_tag);
}

/* A length; `*out_end` is the end of the bytes that follow it. */
static inline const unsigned char *wr_scan_length(struct wr_scan *scan, const unsigned char *at,
                                                  const unsigned char *end,
                                                  const unsigned char **out_end)
{
    if (at < end && *at < 0x80 && *at < end - at) {
        *out_end = at + 1 + *at;
        return at + 1;
    }
    return wr_scan_long_length(scan, at, end, out_end);
}

#endif
