/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/terms.h"

#include "limit/calendar.h"
#include "limit/token_bucket.h"
#include "rules/decimal.h"
#include "rules/duration.h"

#define US_PER_SECOND INT64_C(1000000)

static const struct wr_str algorithms[] = {
    [WR_ALGORITHM_FIXED_WINDOW] = WR_STR("fixed_window"),
    [WR_ALGORITHM_SLIDING_WINDOW] = WR_STR("sliding_window"),
    [WR_ALGORITHM_SLIDING_BUCKETS] = WR_STR("sliding_buckets"),
    [WR_ALGORITHM_SLIDING_LOG] = WR_STR("sliding_log"),
    [WR_ALGORITHM_TOKEN_BUCKET] = WR_STR("token_bucket"),
};

static const struct wr_str alignments[] = {
    [WR_ALIGN_EPOCH] = WR_STR("epoch"),
    [WR_ALIGN_FIRST_HIT] = WR_STR("first_hit"),
    [WR_ALIGN_CALENDAR] = WR_STR("calendar"),
};

bool wr_algorithm_of_name(struct wr_str name, enum wr_algorithm *out_algorithm)
{
    const size_t n = sizeof algorithms / sizeof algorithms[0];
    const size_t place = wr_str_place(algorithms, n, name);

    if (place < n) {
        *out_algorithm = (enum wr_algorithm) place;
    }
    return place < n;
}

const char *wr_algorithm_name(enum wr_algorithm algorithm)
{
    return algorithms[algorithm].ptr;
}

bool wr_alignment_of_name(struct wr_str name, enum wr_alignment *out_alignment)
{
    const size_t n = sizeof alignments / sizeof alignments[0];
    const size_t place = wr_str_place(alignments, n, name);

    if (place < n) {
        *out_alignment = (enum wr_alignment) place;
    }
    return place < n;
}

const char *wr_alignment_name(enum wr_alignment alignment)
{
    return alignments[alignment].ptr;
}

enum wr_unit wr_terms_unit(int64_t length_us)
{
    static const enum wr_unit units[] = {WR_UNIT_SECOND, WR_UNIT_MINUTE, WR_UNIT_HOUR, WR_UNIT_DAY,
                                         WR_UNIT_WEEK,   WR_UNIT_MONTH,  WR_UNIT_YEAR};
    const uint64_t length_s = (uint64_t) (length_us / US_PER_SECOND);
    size_t i = 0;

    /* Past the geometric mean of two the larger is nearer. */
    while (i + 1 < sizeof units / sizeof units[0] &&
           length_s * length_s > (uint64_t) (wr_unit_length_us(units[i]) / US_PER_SECOND) *
                                     (uint64_t) (wr_unit_length_us(units[i + 1]) / US_PER_SECOND)) {
        i++;
    }
    return units[i];
}

/* Of a token bucket that says none. */
static uint64_t burst_default(uint64_t requests)
{
    return requests < 20 ? 1 : requests / 10;
}

static struct wr_str zone_of(const struct wr_limit *limit)
{
    return limit->calendar != NULL ? limit->calendar->zone_name : (struct wr_str){0};
}

bool wr_limit_is_alike(const struct wr_limit *a, const struct wr_limit *b)
{
    return a->length_us == b->length_us && a->alignment == b->alignment &&
           a->algorithm == b->algorithm && wr_str_equal(zone_of(a), zone_of(b));
}

static int64_t length_of(const struct wr_draft_limit *draft)
{
    const int64_t unit_us = wr_unit_length_us(wr_unit_of_name(draft->unit));
    int64_t length_us = 0;

    if (draft->window.text.len > 0) {
        return wr_duration_parse(draft->window.text, &length_us) == WR_DURATION_GOOD ? length_us
                                                                                     : 0;
    }
    if (!draft->multiplier.is_set || unit_us == 0) {
        return unit_us;
    }
    return draft->multiplier.number > WR_DURATION_MAX_US / unit_us
               ? 0
               : unit_us * (int64_t) draft->multiplier.number;
}

static uint64_t requests_of(const struct wr_draft_limit *draft)
{
    struct wr_decimal share;

    return wr_decimal_parse(draft->headroom.text, &share)
               ? wr_decimal_of(&share, draft->requests_per_unit)
               : draft->requests_per_unit;
}

static void add_warm_up(const struct wr_draft_limit *draft, struct wr_limit *limit)
{
    struct wr_decimal share;
    int64_t duration_us;

    if (!draft->has_warm_up || !wr_decimal_parse(draft->warm_up_start.text, &share) ||
        wr_duration_parse(draft->warm_up_duration.text, &duration_us) != WR_DURATION_GOOD) {
        return;
    }

    const uint64_t start = wr_decimal_of(&share, limit->requests);

    limit->warm_up_us = duration_us;
    limit->warm_up_start = start == 0 && limit->requests > 0 ? 1 : start;
}

/* What goes with an algorithm alone. */
static void add_shape(struct wr_limit *limit, uint64_t burst, uint32_t n_buckets)
{
    if (limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET) {
        limit->burst = burst;
    } else if (limit->algorithm == WR_ALGORITHM_SLIDING_BUCKETS) {
        limit->n_buckets = n_buckets;
    }
}

struct wr_limit wr_terms_limit(const struct wr_draft_limit *draft)
{
    struct wr_limit limit = {.requests = requests_of(draft), .length_us = length_of(draft)};

    (void) wr_algorithm_of_name(draft->algorithm.text, &limit.algorithm);
    (void) wr_alignment_of_name(draft->align.text, &limit.alignment);
    add_shape(&limit, draft->burst.is_set ? draft->burst.number : burst_default(limit.requests),
              draft->buckets.is_set ? draft->buckets.number : WR_BUCKETS_DEFAULT);
    add_warm_up(draft, &limit);
    return limit;
}

struct wr_str wr_terms_zone(const struct wr_draft_limit *draft)
{
    static const struct wr_str utc = WR_STR("UTC");

    return wr_str_equal(draft->time_zone.text, utc) ? (struct wr_str){0} : draft->time_zone.text;
}

static const enum wr_unit calendar_units[WR_CALENDAR_UNITS] = {WR_UNIT_DAY, WR_UNIT_WEEK,
                                                               WR_UNIT_MONTH, WR_UNIT_YEAR};

enum wr_unit wr_terms_calendar_unit(size_t index)
{
    return calendar_units[index];
}

const struct wr_calendar *wr_terms_calendar(const struct wr_calendar *calendars, enum wr_unit unit)
{
    for (size_t i = 0; calendars != NULL && i < WR_CALENDAR_UNITS; i++) {
        if (calendar_units[i] == unit) {
            return &calendars[i];
        }
    }
    return NULL;
}

struct wr_limit wr_terms_override(const struct wr_rule *rule, uint32_t requests, enum wr_unit unit)
{
    const struct wr_limit *const terms = &rule->limit;
    struct wr_limit limit = {
        .requests = requests,
        .length_us = wr_unit_length_us(unit),
        .count = terms->count,
        .algorithm = terms->algorithm,
        .alignment = terms->alignment,
        .calendar = wr_terms_calendar(rule->calendars, unit),
    };

    if (limit.algorithm == WR_ALGORITHM_SLIDING_LOG && requests > WR_SLIDING_LOG_MAX) {
        limit.algorithm = WR_ALGORITHM_SLIDING_BUCKETS;
    }
    add_shape(&limit, rule->has_burst ? terms->burst : burst_default(requests),
              terms->n_buckets > 0 ? terms->n_buckets : WR_BUCKETS_DEFAULT);
    if (limit.burst > wr_token_bucket_burst_max(&limit)) {
        limit.burst = wr_token_bucket_burst_max(&limit);
    }
    if (limit.alignment == WR_ALIGN_CALENDAR && limit.calendar == NULL) {
        limit.alignment = WR_ALIGN_EPOCH;
    }
    return limit;
}
