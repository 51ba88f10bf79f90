/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator chose about deciding, for the whole server.
 *
 * Threads: immutable once the server runs.
 */
#ifndef WR_SERVICE_SETTINGS_H
#define WR_SERVICE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "rules/policy.h"

struct wr_settings {
    bool has_shadow_mode;      /* no call is refused; statuses tell what would have been */
    bool has_quota_mode;       /* every descriptor but unlimited ones counts as a quota */
    bool has_response_headers; /* the three headers below go into the response */
    bool has_dynamic_metadata; /* the response says what was asked and what matched */
    struct wr_str limit_header, remaining_header, reset_header; /* names */
    struct wr_str degraded_header;     /* says who decided without the store; empty: nobody says */
    bool stops_when_over;              /* WR_CHARGE_STOP for every call */
    enum wr_failure_mode failure_mode; /* of limits whose rule has none */
    size_t max_takes; /* limits that all descriptors of a call meet; 0: without bound */
};

#endif
