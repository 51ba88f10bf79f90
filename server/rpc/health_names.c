/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health_names.h"

#include <stddef.h>

static const struct {
    struct wr_str service;
    bool is_always_serving;
} names[WR_HEALTH_NAMES] = {
    {.service = WR_STR("")},
    {.service = WR_STR("ratelimit")},
    {.service = WR_STR("envoy.service.ratelimit.v3.RateLimitService")},
    {.service = WR_STR("live"), .is_always_serving = true},
};

static enum wr_serving serving_at(size_t i, bool is_serving)
{
    return is_serving || names[i].is_always_serving ? WR_SERVING_YES : WR_SERVING_NO;
}

enum wr_serving wr_health_names_serving(struct wr_str service, bool is_serving)
{
    for (size_t i = 0; i < WR_HEALTH_NAMES; i++) {
        if (wr_str_equal(service, names[i].service)) {
            return serving_at(i, is_serving);
        }
    }
    return WR_SERVING_SERVICE_UNKNOWN;
}

void wr_health_names_rows(bool is_serving, struct wr_health_row out_rows[WR_HEALTH_NAMES])
{
    for (size_t i = 0; i < WR_HEALTH_NAMES; i++) {
        out_rows[i] = (struct wr_health_row){
            .service = names[i].service,
            .serving = serving_at(i, is_serving),
        };
    }
}
