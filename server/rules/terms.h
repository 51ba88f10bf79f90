/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keys of a limit come to: names of algorithms and alignments, the length of the window,
 * the number that is enforced.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_TERMS_H
#define WR_RULES_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "limit/limit.h"
#include "limit/unit.h"
#include "rules/draft.h"
#include "rules/rules.h"

/* Sub-windows of sliding_buckets when the rule says nothing. */
#define WR_BUCKETS_DEFAULT 60

/* The algorithm of that name, by case; false when there is none. */
bool wr_algorithm_of_name(struct wr_str name, enum wr_algorithm *out_algorithm);

/* As rules and messages have it. */
const char *wr_algorithm_name(enum wr_algorithm algorithm);

/* The alignment of that name, by case; false when there is none. */
bool wr_alignment_of_name(struct wr_str name, enum wr_alignment *out_alignment);

/* As rules and messages have it. */
const char *wr_alignment_name(enum wr_alignment alignment);

/* The unit nearest to a window, as a ratio. */
enum wr_unit wr_terms_unit(int64_t length_us);

/* Whether two limits of one path, with their calendars, count the same thing, and so need a layer
 * each. */
bool wr_limit_is_alike(const struct wr_limit *a, const struct wr_limit *b);

/* What a draft comes to, without count and calendar. What cannot be read is as if it was not there,
 * which leaves the length 0 when there is neither window nor unit. */
struct wr_limit wr_terms_limit(const struct wr_draft_limit *draft);

/* The name of the time zone of a draft's calendar; empty when it is UTC. */
struct wr_str wr_terms_zone(const struct wr_draft_limit *draft);

/* The units that calendars have. */
#define WR_CALENDAR_UNITS 4

/* The unit at `index`, below WR_CALENDAR_UNITS, of the calendars of a rule. */
enum wr_unit wr_terms_calendar_unit(size_t index);

/* Of the calendars of a rule the one of `unit`; NULL when there are none, or it has no such unit.
 */
const struct wr_calendar *wr_terms_calendar(const struct wr_calendar *calendars, enum wr_unit unit);

/*
 * The limit that a request gives by number and unit, with the rest as of `rule` on its path. A
 * burst that the rule does not say is a share of the number. What a request cannot have turns into
 * what guarantees as much: sliding_log beyond its bound into sliding_buckets, a calendar without
 * such a unit into windows of the epoch, a burst that takes too long to fill into the largest one.
 */
struct wr_limit wr_terms_override(const struct wr_rule *rule, uint32_t requests, enum wr_unit unit);

#endif
