/* SPDX-License-Identifier: Apache-2.0 */
/* The words for the numbers of the wire. Any number may come from a server. */
#include "codec.h"

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

static const char *const health_names[] = {
    [WEIR_HEALTH_UNKNOWN] = "UNKNOWN",
    [WEIR_HEALTH_SERVING] = "SERVING",
    [WEIR_HEALTH_NOT_SERVING] = "NOT_SERVING",
    [WEIR_HEALTH_SERVICE_UNKNOWN] = "SERVICE_UNKNOWN",
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

const char *weir_health_name(enum weir_health health)
{
    const size_t index = (size_t) health;

    return index < sizeof health_names / sizeof health_names[0] ? health_names[index] : "UNKNOWN";
}
