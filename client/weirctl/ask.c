/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

void weirctl_ask_build(const struct weirctl_args *args, struct weir_request *request)
{
    weir_request_init(request, weir_str(args->domain));
    if (args->charge == WEIRCTL_CHARGE_HITS) {
        weir_request_hits(request, (uint32_t) args->hits);
    }
    for (size_t i = 0; i < args->descriptor_count; i++) {
        const struct weirctl_descriptor *descriptor = &args->descriptors[i];

        weir_request_descriptor(request);
        for (size_t j = 0; j < descriptor->entry_count; j++) {
            weir_request_entry(request, descriptor->entries[j].key, descriptor->entries[j].value);
        }
        if (args->charge == WEIRCTL_CHARGE_PEEK) {
            weir_request_peek(request);
        } else if (args->charge == WEIRCTL_CHARGE_REFUND) {
            weir_request_refund(request, args->hits);
        }
        if (args->has_limit) {
            weir_request_limit(request, args->limit.requests, args->limit.unit);
        }
    }
}
