/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes into the client's decoders of replies: whatever a server sends, the result stays within
 * its bounds and adds up.
 */
#include <stdlib.h>

#include "client/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_name(const struct weir_limit *limit)
{
    const size_t kept = limit->name_len <= WEIR_NAME_MAX ? limit->name_len : 0;

    require(limit->name[kept] == '\0');
}

static void check_result(const struct weir_result *result)
{
    uint64_t longest_ms = 0;

    require(result->status_count <= WEIR_DESCRIPTORS_MAX);
    for (size_t i = 0; i < result->status_count; i++) {
        const struct weir_status *status = &result->statuses[i];
        const uint64_t reset_ms = ((uint64_t) status->reset_us + 999) / 1000;

        require(status->reset_us >= 0);
        require(status->has_reset || status->reset_us == 0);
        check_name(&status->limit);
        if (status->code == WEIR_CODE_OVER_LIMIT && reset_ms > longest_ms) {
            longest_ms = reset_ms;
        }
    }
    require(result->retry_after_ms == longest_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_result result = {0};
    enum weir_health health;

    if (weir_codec_get_reply(data, size, &result)) {
        check_result(&result);
    }
    require(result.status_count <= WEIR_DESCRIPTORS_MAX);
    if (weir_codec_get_health(data, size, &health)) {
        require((int) health >= WEIR_HEALTH_UNKNOWN && health <= WEIR_HEALTH_SERVICE_UNKNOWN);
    }
    return 0;
}
