/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/limit_pass.h"

#include "rules/duration.h"

#define MIN_US 1000

struct wr_check_subject wr_limit_pass_at(const struct wr_limit_pass *pass, struct wr_place place)
{
    struct wr_check_subject subject = *pass->of_limit;

    if (wr_place_is_within(&place)) {
        subject.place = place;
    }
    return subject;
}

void wr_limit_pass_refuse(const struct wr_limit_pass *pass, struct wr_place place, const char *name,
                          const char *beside, const char *hint)
{
    const struct wr_check_subject subject = wr_limit_pass_at(pass, place);

    wr_check_error(pass->check, &subject, hint, "`%s` must not stand %s", name, beside);
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

bool wr_limit_pass_duration(const struct wr_limit_pass *pass, const struct wr_draft_text *text,
                            const char *name, int64_t *out_us)
{
    const struct wr_check_subject subject = wr_limit_pass_at(pass, text->place);
    const enum wr_duration_fault fault = wr_duration_parse(text->text, out_us);

    if (fault != WR_DURATION_GOOD) {
        wr_check_error(pass->check, &subject, "as in 100ms, 30s, 5m, 1h30m, 2d, 1w",
                       "`%s`: %.*s %s", name, wr_check_shown(text->text), text->text.ptr,
                       describe(fault));
        return false;
    }
    if (*out_us < MIN_US) {
        wr_check_error(pass->check, &subject, NULL, "`%s` must be at least 1ms", name);
        return false;
    }
    return true;
}
