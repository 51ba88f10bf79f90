/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a RateLimitPolicy as the limit of a rule: the part of wire/rules_message that is
 * about limits.
 *
 * Threads: owner thread only.
 */
#ifndef WR_WIRE_LIMIT_MESSAGE_H
#define WR_WIRE_LIMIT_MESSAGE_H

#include "base/str.h"
#include "rules/draft.h"
#include "wire/rules_reader.h"

/* Reads the `rate_limit` of the rule that `of_rule` is about. A second one is merged into the
 * first, as protobuf has it. */
void wr_rules_limit_read(struct wr_rules_reader *reader, struct wr_str message,
                         const struct wr_rules_subject *of_rule, struct wr_draft_rule *rule);

#endif
