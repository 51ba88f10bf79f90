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

/* What is wrong with a length, and what to do. */
struct fault {
    const char *text, *hint;
};

static struct fault fault_of(enum wr_duration_fault fault)
{
    static const char examples[] = "as in 100ms, 30s, 5m, 1h30m, 2d, 1w";

    switch (fault) {
    case WR_DURATION_NO_UNIT:
        return (struct fault){"has no unit", examples};
    case WR_DURATION_TOO_FINE:
        return (struct fault){"is no whole number of microseconds", examples};
    case WR_DURATION_TOO_LONG:
        return (struct fault){"is more than 100 years", "at most 36500d"};
    case WR_DURATION_GOOD:
    case WR_DURATION_NO_LENGTH:
    default:
        return (struct fault){"is not a length of time", examples};
    }
}

bool wr_limit_pass_duration(const struct wr_limit_pass *pass, const struct wr_draft_text *text,
                            const char *name, int64_t *out_us)
{
    const struct wr_check_subject subject = wr_limit_pass_at(pass, text->place);
    const enum wr_duration_fault parsed = wr_duration_parse(text->text, out_us);

    if (parsed != WR_DURATION_GOOD) {
        const struct fault fault = fault_of(parsed);

        wr_check_error(pass->check, &subject, fault.hint, "`%s`: %.*s %s", name,
                       wr_check_shown(text->text), text->text.ptr, fault.text);
        return false;
    }
    if (*out_us < MIN_US) {
        wr_check_error(pass->check, &subject, NULL, "`%s` must be at least 1ms", name);
        return false;
    }
    return true;
}
