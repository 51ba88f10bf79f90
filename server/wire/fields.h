/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a message one after the other, for readers that may stop anywhere: what goes wrong
 * is kept once, for all the messages within one, and ends every loop over fields.
 *
 *     while (wr_fields_next(&fields)) {
 *         if (fields.tag == WR_TAG(1, WR_WIRE_BYTES)) { text = wr_fields_bytes(&fields); }
 *         else { wr_fields_skip(&fields); }
 *     }
 *
 * Each field has to be read or skipped. Nothing is copied.
 * Threads: owner thread only.
 */
#ifndef WR_WIRE_FIELDS_H
#define WR_WIRE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "wire/scan.h"

struct wr_fields {
    struct wr_scan *scan; /* borrowed; shared with the messages around this one and within */
    const unsigned char *at, *end;
    uint32_t tag; /* of the field that wr_fields_next has come to */
};

/* `scan` begins as {0}. */
struct wr_fields wr_fields_of(struct wr_scan *scan, struct wr_str message);

/* Comes to the next field; false at the end, and when something is wrong. */
bool wr_fields_next(struct wr_fields *fields);

/* The value of the field, by its wire type; 0 and empty when it is cut. */
uint64_t wr_fields_varint(struct wr_fields *fields);
double wr_fields_double(struct wr_fields *fields);
struct wr_str wr_fields_bytes(struct wr_fields *fields);

void wr_fields_skip(struct wr_fields *fields);

/* How many fields of that tag the message has, from its beginning to its end. */
size_t wr_fields_count(struct wr_fields fields, uint32_t tag);

#endif
