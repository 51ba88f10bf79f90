/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/fields.h"

#include <string.h>

struct wr_fields wr_fields_of(struct wr_scan *scan, struct wr_str message)
{
    const unsigned char *const begin = (const unsigned char *) (message.len > 0 ? message.ptr : "");

    return (struct wr_fields){.scan = scan, .at = begin, .end = begin + message.len};
}

/* Goes on behind a value; NULL ends the loop, as `scan` has the reason. */
static void go_on(struct wr_fields *fields, const unsigned char *behind)
{
    fields->at = behind != NULL ? behind : fields->end;
}

bool wr_fields_next(struct wr_fields *fields)
{
    if (fields->scan->fault != WR_FAULT_NONE || fields->at == fields->end) {
        return false;
    }

    const unsigned char *const behind =
        wr_scan_tag(fields->scan, fields->at, fields->end, &fields->tag);

    go_on(fields, behind);
    return behind != NULL;
}

uint64_t wr_fields_varint(struct wr_fields *fields)
{
    uint64_t value = 0;

    go_on(fields, wr_scan_varint(fields->scan, fields->at, fields->end, &value));
    return value;
}

double wr_fields_double(struct wr_fields *fields)
{
    const unsigned char *const at = fields->at;
    uint64_t bits = 0;
    double value;

    wr_fields_skip(fields);
    if (fields->scan->fault != WR_FAULT_NONE) {
        return 0;
    }
    for (unsigned i = 0; i < sizeof bits; i++) {
        bits |= (uint64_t) at[i] << 8 * i;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct wr_str wr_fields_bytes(struct wr_fields *fields)
{
    const unsigned char *behind = NULL;
    const unsigned char *const begin =
        wr_scan_length(fields->scan, fields->at, fields->end, &behind);

    go_on(fields, begin != NULL ? behind : NULL);
    return begin == NULL
               ? (struct wr_str){.ptr = ""}
               : (struct wr_str){.ptr = (const char *) begin, .len = (size_t) (behind - begin)};
}

void wr_fields_skip(struct wr_fields *fields)
{
    go_on(fields, wr_scan_skip(fields->scan, fields->at, fields->end, fields->tag));
}

size_t wr_fields_count(struct wr_fields fields, uint32_t tag)
{
    size_t n = 0;

    while (wr_fields_next(&fields)) {
        n += fields.tag == tag;
        wr_fields_skip(&fields);
    }
    return n;
}
