/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/unit.h"

#include <stddef.h>

static const struct {
    enum wr_unit unit;
    struct wr_str name;
    int64_t seconds;
} units[] = {
#define WR_UNIT_ROW(id, number, text, length) {(id), WR_STR(text), (length)},
    WR_UNIT_TABLE(WR_UNIT_ROW)
#undef WR_UNIT_ROW
};

#define N_UNITS (sizeof units / sizeof units[0])

enum wr_unit wr_unit_of_name(struct wr_str name)
{
    for (size_t i = 0; i < N_UNITS; i++) {
        if (wr_str_equal_nocase(name, units[i].name)) {
            return units[i].unit;
        }
    }
    return WR_UNIT_UNKNOWN;
}

const char *wr_unit_name(enum wr_unit unit)
{
    for (size_t i = 0; i < N_UNITS; i++) {
        if (units[i].unit == unit) {
            return units[i].name.ptr;
        }
    }
    return "unknown";
}

int64_t wr_unit_length_us(enum wr_unit unit)
{
    for (size_t i = 0; i < N_UNITS; i++) {
        if (units[i].unit == unit) {
            return units[i].seconds * 1000000;
        }
    }
    return 0;
}
