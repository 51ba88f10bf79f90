/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/limit_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "rules/decimal.h"
#include "rules/duration.h"
#include "rules/terms.h"
#include "rules/zone.h"

#define MIN_WINDOW_US 1000
#define HINT_SIZE 160

/* One limit under check. */
struct pass {
    struct wr_check *check;
    const struct wr_check_subject *of_limit;
    const struct wr_draft_limit *draft;
    struct wr_limit limit; /* what it comes to as far as it can be read */
};

/* The subject of a note at `place`. */
static struct wr_check_subject at(const struct pass *pass, struct wr_place place)
{
    struct wr_check_subject subject = *pass->of_limit;

    if (place.line > 0) {
        subject.place = place;
    }
    return subject;
}

static bool needs_escape(struct wr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char) text.ptr[i];

        if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') {
            return true;
        }
    }
    return false;
}

/* An error on `place`: `name` is there, and does not go with what stands in `beside`. */
static void refuse_key(const struct pass *pass, struct wr_place place, const char *name,
                       const char *beside, const char *hint)
{
    const struct wr_check_subject subject = at(pass, place);

    wr_check_error(pass->check, &subject, hint, "`%s` must not stand %s", name, beside);
}

/* What says how to count, as a table of what is there. */
struct key {
    const char *name;
    bool is_there;
    struct wr_place place;
};

#define N_KEYS 9

static void list_keys(const struct wr_draft_limit *draft, struct key keys[N_KEYS])
{
    const struct key all[N_KEYS] = {
        {"window", draft->window.text.len > 0, draft->window.place},
        {"unit_multiplier", draft->multiplier.is_set, draft->multiplier.place},
        {"algorithm", draft->algorithm.text.len > 0, draft->algorithm.place},
        {"align", draft->align.text.len > 0, draft->align.place},
        {"time_zone", draft->time_zone.text.len > 0, draft->time_zone.place},
        {"burst", draft->burst.is_set, draft->burst.place},
        {"buckets", draft->buckets.is_set, draft->buckets.place},
        {"headroom", draft->headroom.text.len > 0, draft->headroom.place},
        {"warm_up", draft->has_warm_up, draft->warm_up_place},
    };

    for (size_t i = 0; i < N_KEYS; i++) {
        keys[i] = all[i];
    }
}

static void check_unlimited(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject of_unit = at(pass, draft->unit_place);
    struct key keys[N_KEYS];

    if (wr_unit_of_name(draft->unit) != WR_UNIT_UNKNOWN) {
        wr_check_error(pass->check, &of_unit, "remove one of the two",
                       "`unit` must not stand beside `unlimited: true`");
    } else if (draft->unit.len > 0) {
        wr_check_warn(pass->check, &of_unit, "remove it",
                      "`unit: %.*s` beside `unlimited: true` has no effect, and is not a unit",
                      wr_check_shown(draft->unit), draft->unit.ptr);
    }
    list_keys(draft, keys);
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].is_there) {
            refuse_key(pass, keys[i].place, keys[i].name, "beside `unlimited: true`",
                       "remove one of the two");
        }
    }
}

static void check_unit(const struct pass *pass)
{
    static const char units[] = "one of second, minute, hour, day, week, month, year";
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject of_unit = at(pass, draft->unit_place);
    const struct wr_check_subject of_multiplier = at(pass, draft->multiplier.place);

    if (draft->unit.len == 0) {
        wr_check_error(pass->check, &of_unit, units, "`rate_limit` has no `unit`");
        return;
    }
    if (wr_unit_of_name(draft->unit) == WR_UNIT_UNKNOWN) {
        wr_check_error(pass->check, &of_unit, units, "`%.*s` is not a unit",
                       wr_check_shown(draft->unit), draft->unit.ptr);
    } else if (draft->multiplier.is_set && draft->multiplier.number == 0) {
        wr_check_error(pass->check, &of_multiplier, "1 is what it is without",
                       "`unit_multiplier` must be at least 1");
    } else if (pass->limit.length_us == 0) {
        wr_check_error(pass->check, &of_multiplier, "at most 100 years",
                       "%" PRIu32 " times `%.*s` is too long a window", draft->multiplier.number,
                       wr_check_shown(draft->unit), draft->unit.ptr);
    }
}

static const char *describe(enum wr_duration_fault fault)
{
    switch (fault) {
    case WR_DURATION_NO_UNIT:
        return "has no unit";
    case WR_DURATION_TOO_FINE:
        return "is no whole number of microseconds";
    case WR_DURATION_TOO_LONG:
        return "is more than 100 years";
    case WR_DURATION_GOOD:
    case WR_DURATION_NO_LENGTH:
    default:
        return "is not a length of time";
    }
}

/* The length that `text` says, at least `min_us`; what is wrong is noted. */
static bool check_duration(const struct pass *pass, const struct wr_draft_text *text,
                           const char *name, int64_t *out_us)
{
    const struct wr_check_subject subject = at(pass, text->place);
    const enum wr_duration_fault fault = wr_duration_parse(text->text, out_us);

    if (fault != WR_DURATION_GOOD) {
        wr_check_error(pass->check, &subject, "as in 100ms, 30s, 5m, 1h30m, 2d, 1w",
                       "`%s`: %.*s %s", name, wr_check_shown(text->text), text->text.ptr,
                       describe(fault));
        return false;
    }
    if (*out_us < MIN_WINDOW_US) {
        wr_check_error(pass->check, &subject, NULL, "`%s` must be at least 1ms", name);
        return false;
    }
    return true;
}

static void check_window(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = at(pass, draft->window.place);
    const int64_t min_us = pass->check->min_window_us;
    char min_text[WR_DURATION_TEXT_SIZE];
    int64_t length_us;

    if (draft->unit.len > 0) {
        refuse_key(pass, draft->window.place, "window", "beside `unit`", "remove one of the two");
    }
    if (draft->multiplier.is_set) {
        refuse_key(pass, draft->multiplier.place, "unit_multiplier", "beside `window`",
                   "write the length of the window out");
    }
    if (!check_duration(pass, &draft->window, "window", &length_us)) {
        return;
    }
    if (length_us < min_us) {
        wr_duration_write(min_us, min_text);
        wr_check_error(pass->check, &subject,
                       "a longer window; --store local counts in windows of 1ms and more",
                       "`window: %.*s` is too short for Redis, which needs %s or more",
                       wr_check_shown(draft->window.text), draft->window.text.ptr, min_text);
    }
}

static void check_algorithm(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const enum wr_algorithm algorithm = pass->limit.algorithm;
    const struct wr_check_subject subject = at(pass, draft->algorithm.place);
    const struct wr_check_subject of_burst = at(pass, draft->burst.place);
    const struct wr_check_subject of_buckets = at(pass, draft->buckets.place);
    enum wr_algorithm said;

    if (draft->algorithm.text.len > 0 && !wr_algorithm_of_name(draft->algorithm.text, &said)) {
        wr_check_error(
            pass->check, &subject,
            "one of fixed_window, sliding_window, sliding_buckets, sliding_log, token_bucket",
            "`%.*s` is not an `algorithm`", wr_check_shown(draft->algorithm.text),
            draft->algorithm.text.ptr);
        return;
    }
    if (draft->burst.is_set && algorithm != WR_ALGORITHM_TOKEN_BUCKET) {
        wr_check_error(pass->check, &of_burst, "add `algorithm: token_bucket`, or remove it",
                       "`burst` has no meaning for `%s`", wr_algorithm_name(algorithm));
    } else if (draft->burst.is_set && draft->burst.number == 0) {
        wr_check_error(pass->check, &of_burst, "`requests_per_unit: 0` lets nothing pass",
                       "`burst` must be at least 1");
    }
    if (draft->buckets.is_set && algorithm != WR_ALGORITHM_SLIDING_BUCKETS) {
        wr_check_error(pass->check, &of_buckets, "add `algorithm: sliding_buckets`, or remove it",
                       "`buckets` has no meaning for `%s`", wr_algorithm_name(algorithm));
    } else if (draft->buckets.is_set &&
               (draft->buckets.number == 0 || draft->buckets.number > WR_BUCKETS_MAX)) {
        wr_check_error(pass->check, &of_buckets, "60 is what it is without",
                       "`buckets` must be a number from 1 to %d, not %" PRIu32, WR_BUCKETS_MAX,
                       draft->buckets.number);
    }
    if (algorithm == WR_ALGORITHM_SLIDING_LOG && pass->limit.requests > WR_SLIDING_LOG_MAX) {
        wr_check_error(pass->check, &subject, "sliding_buckets lets as little pass, without bound",
                       "`sliding_log` is for limits up to %d, not %" PRIu64, WR_SLIDING_LOG_MAX,
                       pass->limit.requests);
    }
}

/* A token comes every so many whole microseconds, rounded up: which may be fewer than were said. */
static void check_rounding(const struct pass *pass)
{
    const struct wr_limit *const limit = &pass->limit;

    if (limit->algorithm != WR_ALGORITHM_TOKEN_BUCKET || limit->requests == 0 ||
        limit->length_us <= 0) {
        return;
    }

    const int64_t requests = (int64_t) limit->requests;
    const int64_t interval_us = (limit->length_us - 1) / requests + 1;
    const int64_t all_us = interval_us * requests;

    if ((all_us - limit->length_us) * 100 > all_us) {
        wr_check_warn(pass->check, pass->of_limit,
                      "sliding_window and sliding_buckets count such rates to the last hit",
                      "`token_bucket` has a token every %" PRId64
                      " microseconds, which makes %" PRId64 " in a window in place of %" PRId64,
                      interval_us, limit->length_us / interval_us, requests);
    }
}

static bool is_calendar_unit(enum wr_unit unit)
{
    return unit == WR_UNIT_DAY || unit == WR_UNIT_WEEK || unit == WR_UNIT_MONTH ||
           unit == WR_UNIT_YEAR;
}

static void check_calendar(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = at(pass, draft->align.place);
    const struct wr_check_subject of_zone = at(pass, draft->time_zone.place);
    const enum wr_unit unit = wr_unit_of_name(draft->unit);

    if (draft->window.text.len > 0) {
        refuse_key(pass, draft->align.place, "align: calendar", "beside `window`",
                   "`unit: day`, week, month or year in place of it");
    } else if (draft->multiplier.is_set) {
        refuse_key(pass, draft->align.place, "align: calendar", "beside `unit_multiplier`",
                   "remove one of the two");
    } else if (unit != WR_UNIT_UNKNOWN && !is_calendar_unit(unit)) {
        wr_check_error(pass->check, &subject, "one of day, week, month, year",
                       "`align: calendar` has no `unit: %s`", wr_unit_name(unit));
    }
    if (draft->time_zone.text.len > 0 && !wr_zone_is_known(draft->time_zone.text)) {
        wr_check_error(pass->check, &of_zone, "a name as in Europe/Paris, of the system's tzdata",
                       "`%.*s` is not a `time_zone`", wr_check_shown(draft->time_zone.text),
                       draft->time_zone.text.ptr);
    }
}

static void check_align(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = at(pass, draft->align.place);
    enum wr_alignment said;

    if (draft->align.text.len > 0 && !wr_alignment_of_name(draft->align.text, &said)) {
        wr_check_error(pass->check, &subject, "one of epoch, first_hit, calendar",
                       "`%.*s` is not an `align`", wr_check_shown(draft->align.text),
                       draft->align.text.ptr);
        return;
    }
    if (pass->limit.alignment != WR_ALIGN_EPOCH &&
        pass->limit.algorithm != WR_ALGORITHM_FIXED_WINDOW) {
        wr_check_error(pass->check, &subject, "it is for `fixed_window`; remove one of the two",
                       "`align: %s` has no meaning for `%s`",
                       wr_alignment_name(pass->limit.alignment),
                       wr_algorithm_name(pass->limit.algorithm));
    }
    if (pass->limit.alignment == WR_ALIGN_CALENDAR) {
        check_calendar(pass);
    } else if (draft->time_zone.text.len > 0) {
        const struct wr_check_subject of_zone = at(pass, draft->time_zone.place);

        wr_check_error(pass->check, &of_zone, "add `align: calendar`, or remove it",
                       "`time_zone` has no meaning without `align: calendar`");
    }
}

static bool check_share(const struct pass *pass, const struct wr_draft_text *text, const char *name)
{
    const struct wr_check_subject subject = at(pass, text->place);
    struct wr_decimal share;

    if (wr_decimal_parse(text->text, &share)) {
        return true;
    }
    wr_check_error(pass->check, &subject, "as in 0.7, with at most 9 digits behind the point",
                   "`%s` must be a number from 0 to 1, not %.*s", name, wr_check_shown(text->text),
                   text->text.ptr);
    return false;
}

static void check_headroom(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = at(pass, draft->headroom.place);

    if (draft->headroom.text.len > 0 && check_share(pass, &draft->headroom, "headroom") &&
        pass->limit.requests == 0 && draft->requests_per_unit > 0) {
        wr_check_warn(pass->check, &subject, "what is enforced is rounded down",
                      "`headroom: %.*s` of %" PRIu32 " is 0, so that nothing passes",
                      wr_check_shown(draft->headroom.text), draft->headroom.text.ptr,
                      draft->requests_per_unit);
    }
}

static void check_warm_up(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = at(pass, draft->warm_up_place);
    int64_t duration_us;

    if (!draft->has_warm_up) {
        return;
    }
    if (draft->warm_up_duration.text.len == 0 || draft->warm_up_start.text.len == 0) {
        wr_check_error(pass->check, &subject, "as in `warm_up: {duration: 30s, start: 0.3}`",
                       "`warm_up` has no `%s`",
                       draft->warm_up_duration.text.len == 0 ? "duration" : "start");
        return;
    }
    (void) check_duration(pass, &draft->warm_up_duration, "duration", &duration_us);
    (void) check_share(pass, &draft->warm_up_start, "start");
}

static void check_replaces(const struct pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;

    for (size_t i = 0; i < draft->n_replaces; i++) {
        const struct wr_draft_replace *const replace = &draft->replaces[i];
        const struct wr_check_subject of_entry = at(pass, replace->place);

        if (replace->name.len == 0) {
            wr_check_error(pass->check, &of_entry, "as in `replaces: [{name: other}]`",
                           "an entry of `replaces` has no `name`");
        } else if (wr_str_equal(replace->name, draft->name)) {
            wr_check_error(pass->check, &of_entry, "name another rule",
                           "a rule must not replace itself, `%.*s`", wr_check_shown(replace->name),
                           replace->name.ptr);
        }
    }
}

/* Two that count alike would admit as one of them does, whatever the order. */
static void check_twins(const struct pass *pass, const struct wr_draft_limits *limits, size_t index)
{
    for (size_t i = 0; i < index && pass->limit.length_us > 0; i++) {
        const struct wr_limit before = wr_terms_limit(&limits->all[i]);

        if (wr_limit_is_alike(&before, &pass->limit) &&
            wr_str_equal(limits->all[i].time_zone.text, pass->draft->time_zone.text)) {
            wr_check_warn(pass->check, pass->of_limit, "remove one of the two",
                          "this limit counts as the one at %zu:%zu does, of which the tighter "
                          "alone decides",
                          limits->all[i].place.line, limits->all[i].place.column);
            return;
        }
    }
}

void wr_limit_check(struct wr_check *check, const struct wr_check_subject *of_rule,
                    const struct wr_draft_limits *limits, size_t index)
{
    const struct wr_draft_limit *const draft = &limits->all[index];
    struct wr_check_subject of_limit = *of_rule;
    const struct pass pass = {
        .check = check, .of_limit = &of_limit, .draft = draft, .limit = wr_terms_limit(draft)};

    of_limit.place = draft->place;
    check_replaces(&pass);
    if (needs_escape(draft->name)) {
        wr_check_warn(check, &of_limit, "use letters, digits, blanks and punctuation",
                      "`name` holds a quote, a backslash or a control character, which response "
                      "headers cannot show as they are");
    }
    if (draft->is_unlimited) {
        check_unlimited(&pass);
        if (limits->n > 1) {
            wr_check_error(check, &of_limit, "remove it, or the others",
                           "`unlimited: true` must not stand among other limits");
        }
        return;
    }
    if (draft->window.text.len > 0) {
        check_window(&pass);
    } else {
        check_unit(&pass);
    }
    check_algorithm(&pass);
    check_align(&pass);
    check_headroom(&pass);
    check_warm_up(&pass);
    check_rounding(&pass);
    check_twins(&pass, limits, index);
}
