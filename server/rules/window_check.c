/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/window_check.h"

#include <inttypes.h>

#include "rules/duration.h"
#include "rules/near.h"
#include "rules/terms.h"
#include "rules/zone.h"

static void check_unit(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    /* Messages have no field for a window. */
    const char *const units = draft->place.spot != NULL
                                  ? "one of second, minute, hour, day, week, month, year"
                                  : "one of second, minute, hour, day, week, month, year; or "
                                    "`window: 90s` in its place";
    const struct wr_check_subject of_unit = wr_limit_pass_at(pass, draft->unit_place);
    const struct wr_check_subject of_multiplier = wr_limit_pass_at(pass, draft->multiplier.place);
    char near[WR_NEAR_HINT_SIZE];

    if (draft->unit.len == 0) {
        wr_check_error(pass->check, &of_unit, units, "%s has no `unit`", pass->name);
        return;
    }
    if (wr_unit_of_name(draft->unit) == WR_UNIT_UNKNOWN) {
        wr_check_error(pass->check, &of_unit, wr_near_hint(draft->unit, units, near),
                       "`%.*s` is not a unit", wr_check_shown(draft->unit), draft->unit.ptr);
    } else if (draft->multiplier.is_set && draft->multiplier.number == 0) {
        wr_check_error(pass->check, &of_multiplier, "1 is what it is without",
                       "`unit_multiplier` must be at least 1");
    } else if (pass->limit.length_us == 0) {
        wr_check_error(pass->check, &of_multiplier, "at most 100 years",
                       "%" PRIu32 " times `%.*s` is too long a window", draft->multiplier.number,
                       wr_check_shown(draft->unit), draft->unit.ptr);
    }
}

static void check_length(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, draft->window.place);
    const int64_t min_us = pass->check->min_window_us;
    char min_text[WR_DURATION_TEXT_SIZE];
    int64_t length_us;

    if (draft->unit.len > 0) {
        wr_limit_pass_refuse(pass, draft->window.place, "window", "beside `unit`",
                             "remove one of the two");
    }
    if (draft->multiplier.is_set) {
        wr_limit_pass_refuse(pass, draft->multiplier.place, "unit_multiplier", "beside `window`",
                             "write the length of the window out");
    }
    if (!wr_limit_pass_duration(pass, &draft->window, "window", &length_us)) {
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

static bool is_calendar_unit(enum wr_unit unit)
{
    return unit == WR_UNIT_DAY || unit == WR_UNIT_WEEK || unit == WR_UNIT_MONTH ||
           unit == WR_UNIT_YEAR;
}

static void check_calendar(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, draft->align.place);
    const struct wr_check_subject of_zone = wr_limit_pass_at(pass, draft->time_zone.place);
    const enum wr_unit unit = wr_unit_of_name(draft->unit);

    if (draft->window.text.len > 0) {
        wr_limit_pass_refuse(pass, draft->align.place, "align: calendar", "beside `window`",
                             "`unit: day`, week, month or year in place of it");
    } else if (draft->multiplier.is_set) {
        wr_limit_pass_refuse(pass, draft->align.place, "align: calendar",
                             "beside `unit_multiplier`", "remove one of the two");
    } else if (unit != WR_UNIT_UNKNOWN && !is_calendar_unit(unit)) {
        wr_check_error(pass->check, &subject, "one of day, week, month, year",
                       "`align: calendar` has no `unit: %s`", wr_unit_name(unit));
    }
    if (draft->time_zone.text.len > 0 && wr_zone_is_unknown(draft->time_zone.text)) {
        wr_check_error(pass->check, &of_zone, "a name as in Europe/Paris, of the system's tzdata",
                       "`%.*s` is not a `time_zone`", wr_check_shown(draft->time_zone.text),
                       draft->time_zone.text.ptr);
    }
}

static void check_align(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, draft->align.place);
    enum wr_alignment said;
    char near[WR_NEAR_HINT_SIZE];

    if (draft->align.text.len > 0 && !wr_alignment_of_name(draft->align.text, &said)) {
        wr_check_error(pass->check, &subject,
                       wr_near_hint(draft->align.text, "one of epoch, first_hit, calendar", near),
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
        const struct wr_check_subject of_zone = wr_limit_pass_at(pass, draft->time_zone.place);

        wr_check_error(pass->check, &of_zone, "add `align: calendar`, or remove it",
                       "`time_zone` has no meaning without `align: calendar`");
    }
}

void wr_window_check(const struct wr_limit_pass *pass)
{
    if (pass->draft->window.text.len > 0) {
        check_length(pass);
    } else {
        check_unit(pass);
    }
    check_align(pass);
}
