/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a message with rules: it is refused with a note or comes into force. What protobuf-c
 * reads as well, it reads alike: the same descriptors with the same keys, values and limits.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/diag.h"
#include "ratelimit/config/ratelimit/v3/rls_conf.pb-c.h"
#include "rules/draft.h"
#include "rules/rules.h"
#include "tests/fuzz/protobuf_c.h"
#include "wire/message.h"
#include "wire/rules_message.h"

typedef Ratelimit__Config__Ratelimit__V3__RateLimitConfig config_message;
typedef Ratelimit__Config__Ratelimit__V3__RateLimitDescriptor rule_message;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct wr_config_bounds bounds = {
    .max_file_bytes = 1 << 14, .max_depth = 8, .max_nodes = 1 << 10};

static void check_rules(const struct wr_draft_rule *ours, size_t n, rule_message *const *theirs,
                        size_t n_theirs)
{
    WR_ASSERT(n == n_theirs);
    for (size_t i = 0; i < n; i++) {
        const struct wr_draft_rule *const rule = &ours[i];
        const rule_message *const message = theirs[i];

        WR_ASSERT(protobuf_c_agrees_on_text(rule->key, message->key));
        WR_ASSERT(protobuf_c_agrees_on_text(rule->value, message->value));
        WR_ASSERT(rule->has_limit == (message->rate_limit != NULL));
        if (rule->has_limit) {
            WR_ASSERT(protobuf_c_agrees_on_number(rule->limit.requests_per_unit,
                                                  message->rate_limit->requests_per_unit));
            WR_ASSERT(rule->limit.n_replaces == message->rate_limit->n_replaces);
            WR_ASSERT(protobuf_c_agrees_on_text(rule->limit.name, message->rate_limit->name));
        }
        WR_ASSERT(rule->has_metadata == (message->metadata != NULL));
        check_rules(rule->children, rule->n_children, message->descriptors, message->n_descriptors);
    }
}

static void check_agreement(const struct wr_draft *draft, struct wr_str bytes,
                            struct wr_arena *arena)
{
    ProtobufCMessage *unpacked = NULL;

    if (draft->is_refused ||
        wr_message_unpack(&ratelimit__config__ratelimit__v3__rate_limit_config__descriptor, bytes,
                          arena, &unpacked) != WR_OK) {
        return;
    }

    const config_message *const message = (const config_message *) (const void *) unpacked;

    WR_ASSERT(protobuf_c_agrees_on_text(draft->domain, message->domain));
    check_rules(draft->rules, draft->n_rules, message->descriptors, message->n_descriptors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wr_str message = {.ptr = (const char *) data, .len = size};
    struct wr_rules *rules = NULL;
    struct wr_arena arena;
    struct wr_diag diag;
    struct wr_draft draft;
    struct wr_draft *const drafts[] = {&draft};

    wr_arena_init(&arena, 4096);
    wr_diag_init(&diag, 16);
    wr_rules_message_read(message, &bounds, &arena, &diag, &draft);
    WR_ASSERT(draft.is_refused == (diag.n_errors > 0));
    check_agreement(&draft, message, &arena);
    wr_draft_check(&draft, 0, &diag);
    WR_ASSERT(draft.is_refused == (diag.n_errors > 0));
    WR_ASSERT(draft.has_warning == (diag.n_warnings > 0));
    WR_ASSERT(!diag.is_incomplete);
    WR_ASSERT(wr_rules_new(drafts, 1, &rules) == WR_OK);
    WR_ASSERT(wr_rules_domain_count(rules) == (draft.is_refused ? 0 : 1));
    wr_rules_release(rules);
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
    return 0;
}
