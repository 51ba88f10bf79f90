/* SPDX-License-Identifier: Apache-2.0 */
/* The words for the numbers of the wire: units and codes. Any number may come from a server. */
#include "weir/client.h"

static const char *const unit_names[] = {
    [WEIR_UNIT_UNKNOWN] = "unknown", [WEIR_UNIT_SECOND] = "second", [WEIR_UNIT_MINUTE] = "minute",
    [WEIR_UNIT_HOUR] = "hour",       [WEIR_UNIT_DAY] = "day",       [WEIR_UNIT_MONTH] = "month",
    [WEIR_UNIT_YEAR] = "year",       [WEIR_UNIT_WEEK] = "week",
};

static const char *const code_names[] = {
    [WEIR_CODE_UNKNOWN] = "UNKNOWN",
    [WEIR_CODE_OK] = "OK",
    [WEIR_CODE_OVER_LIMIT] = "OVER_LIMIT",
};

const char *weir_unit_name(enum weir_unit unit)
{
    const size_t index = (size_t) unit;

    return index < sizeof unit_names / sizeof unit_names[0] ? unit_names[index] : "unknown";
}

const char *weir_code_name(enum weir_code code)
{
    const size_t index = (size_t) code;

    return index < sizeof code_names / sizeof code_names[0] ? code_names[index] : "UNKNOWN";
}
