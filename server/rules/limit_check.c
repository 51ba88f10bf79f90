/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/limit_check.h"

#include <inttypes.h>

#include "limit/token_bucket.h"
#include "rules/decimal.h"
#include "rules/idle_check.h"
#include "rules/limit_pass.h"
#include "rules/loss_check.h"
#include "rules/near.h"
#include "rules/terms.h"
#include "rules/twin_check.h"
#include "rules/window_check.h"

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

static void check_name(const struct wr_limit_pass *pass)
{
    const struct wr_str name = pass->draft->name;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, pass->draft->name_place);

    if (name.len > WR_LIMIT_NAME_MAX) {
        wr_check_error(pass->check, &subject, "each answer carries it, once a descriptor",
                       "`name` has %zu bytes, more than %d", name.len, WR_LIMIT_NAME_MAX);
    } else if (needs_escape(name)) {
        wr_check_warn(pass->check, &subject, "use letters, digits, blanks and punctuation",
                      "`name` holds a quote, a backslash or a control character, which response "
                      "headers cannot show as they are");
    }
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

static void check_unlimited(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject of_unit = wr_limit_pass_at(pass, draft->unit_place);
    struct key keys[N_KEYS];

    if (wr_unit_of_name(draft->unit) != WR_UNIT_UNKNOWN) {
        wr_check_error(pass->check, &of_unit, "remove one of the two",
                       "`unit` must not stand beside `unlimited: true`");
    } else if (draft->unit.len > 0) {
        wr_check_warn(pass->check, &of_unit, "remove it",
                      "`unit: %.*s` beside `unlimited: true` has no effect, and is not a unit",
                      wr_check_shown(draft->unit), draft->unit.ptr);
    }
    /* Messages cannot tell 0 from none. */
    if (!draft->lacks_requests && (draft->requests_per_unit > 0 || draft->place.spot == NULL)) {
        wr_check_warn(pass->check, pass->of_limit, "remove one of the two",
                      "`requests_per_unit: %" PRIu32 "` beside `unlimited: true` has no effect",
                      draft->requests_per_unit);
    }
    list_keys(draft, keys);
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].is_there) {
            wr_limit_pass_refuse(pass, keys[i].place, keys[i].name, "beside `unlimited: true`",
                                 "remove one of the two");
        }
    }
}

static void check_burst(const struct wr_limit_pass *pass)
{
    const struct wr_limit *const limit = &pass->limit;
    const struct wr_draft_number *const burst = &pass->draft->burst;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, burst->place);

    if (!burst->is_set) {
        return;
    }
    if (limit->algorithm != WR_ALGORITHM_TOKEN_BUCKET) {
        wr_check_error(pass->check, &subject, "add `algorithm: token_bucket`, or remove it",
                       "`burst` has no meaning for `%s`", wr_algorithm_name(limit->algorithm));
    } else if (burst->number == 0) {
        wr_check_error(pass->check, &subject, "`requests_per_unit: 0` lets nothing pass",
                       "`burst` must be at least 1");
    } else if (limit->length_us > 0 && limit->requests > 0 &&
               burst->number > wr_token_bucket_burst_max(limit)) {
        wr_check_error(pass->check, &subject,
                       "a bucket is full within 142 years: make `burst` smaller, or the limit "
                       "larger",
                       "`burst` must be at most %" PRIu64 " with %" PRIu64
                       " in such a window, not %" PRIu32,
                       wr_token_bucket_burst_max(limit), limit->requests, burst->number);
    }
}

static void check_algorithm(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const enum wr_algorithm algorithm = pass->limit.algorithm;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, draft->algorithm.place);
    const struct wr_check_subject of_buckets = wr_limit_pass_at(pass, draft->buckets.place);
    enum wr_algorithm said;
    char near[WR_NEAR_HINT_SIZE];

    if (draft->algorithm.text.len > 0 && !wr_algorithm_of_name(draft->algorithm.text, &said)) {
        wr_check_error(
            pass->check, &subject,
            wr_near_hint(
                draft->algorithm.text,
                "one of fixed_window, sliding_window, sliding_buckets, sliding_log, token_bucket",
                near),
            "`%.*s` is not an `algorithm`", wr_check_shown(draft->algorithm.text),
            draft->algorithm.text.ptr);
        return;
    }
    check_burst(pass);
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

static bool check_share(const struct wr_limit_pass *pass, const struct wr_draft_text *text,
                        const char *name)
{
    const struct wr_check_subject subject = wr_limit_pass_at(pass, text->place);
    struct wr_decimal share;

    if (wr_decimal_parse(text->text, &share)) {
        return true;
    }
    wr_check_error(pass->check, &subject, "as in 0.7, with at most 9 digits behind the point",
                   "`%s` must be a number from 0 to 1, not %.*s", name, wr_check_shown(text->text),
                   text->text.ptr);
    return false;
}

static void check_headroom(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, draft->headroom.place);

    if (draft->headroom.text.len > 0 && check_share(pass, &draft->headroom, "headroom") &&
        pass->limit.requests == 0 && draft->requests_per_unit > 0) {
        wr_check_warn(pass->check, &subject, "what is enforced is rounded down",
                      "`headroom: %.*s` of %" PRIu32 " is 0, so that nothing passes",
                      wr_check_shown(draft->headroom.text), draft->headroom.text.ptr,
                      draft->requests_per_unit);
    }
}

/* A fixed window keeps the limit that it begins with: `start` after an idle time, else mostly all.
 */
static void check_climb(const struct wr_limit_pass *pass)
{
    const struct wr_limit *const limit = &pass->limit;
    const struct wr_check_subject subject =
        wr_limit_pass_at(pass, pass->draft->warm_up_duration.place);

    if (limit->algorithm == WR_ALGORITHM_FIXED_WINDOW && limit->warm_up_us > 0 &&
        limit->warm_up_us < limit->length_us && limit->warm_up_start < limit->requests) {
        wr_check_warn(pass->check, &subject,
                      "a `duration` of several windows, or a sliding `algorithm`, which climbs "
                      "within its window",
                      "`duration` is shorter than the fixed window, which keeps to its end the "
                      "limit that it begins with: after an idle time %" PRIu64 " of %" PRIu64,
                      limit->warm_up_start, limit->requests);
    }
}

/* What begins with all of the limit. */
static void check_start(const struct wr_limit_pass *pass)
{
    const struct wr_limit *const limit = &pass->limit;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, pass->draft->warm_up_place);

    if (limit->requests > 0 && limit->warm_up_us > 0 && limit->warm_up_start == limit->requests) {
        wr_check_warn(pass->check, &subject,
                      limit->requests > 1 ? "a `start` below 1"
                                          : "of a limit of 1 there is no smaller part",
                      "`warm_up` has no effect: the limit begins with all that it climbs to, "
                      "%" PRIu64,
                      limit->requests);
    }
}

static void check_warm_up(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;
    const struct wr_check_subject subject = wr_limit_pass_at(pass, draft->warm_up_place);
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

    const bool has_duration =
        wr_limit_pass_duration(pass, &draft->warm_up_duration, "duration", &duration_us);

    if (check_share(pass, &draft->warm_up_start, "start") && has_duration) {
        check_climb(pass);
        check_start(pass);
    }
}

static void check_replaces(const struct wr_limit_pass *pass)
{
    const struct wr_draft_limit *const draft = pass->draft;

    for (size_t i = 0; i < draft->n_replaces; i++) {
        const struct wr_draft_replace *const replace = &draft->replaces[i];
        const struct wr_check_subject of_entry = wr_limit_pass_at(pass, replace->place);

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

void wr_limit_check(struct wr_check *check, const struct wr_check_subject *of_rule,
                    const struct wr_draft_limits *limits, size_t index)
{
    const struct wr_draft_limit *const draft = &limits->all[index];
    struct wr_check_subject of_limit = *of_rule;
    const struct wr_limit_pass pass = {
        .check = check,
        .of_limit = &of_limit,
        .draft = draft,
        .limit = wr_terms_limit(draft),
        .name = limits->is_list ? "an element of `limits`" : "`rate_limit`",
    };

    of_limit.place = draft->place;
    check_replaces(&pass);
    check_name(&pass);
    if (draft->is_unlimited) {
        check_unlimited(&pass);
        if (limits->n > 1) {
            wr_check_error(check, &of_limit, "remove it, or the others",
                           "`unlimited: true` must not stand among other limits");
        }
        return;
    }
    wr_window_check(&pass);
    check_algorithm(&pass);
    check_headroom(&pass);
    check_warm_up(&pass);
    wr_loss_check(&pass);
    wr_twin_check(&pass, limits, index);
    wr_idle_check(&pass, limits, index);
}
