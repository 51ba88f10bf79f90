/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/rule.h"

#include <inttypes.h>
#include <stdio.h>

#include "rules/terms.h"
#include "tests/stress/crew.h"

#define FEW 12
#define MANY 300

int64_t wr_draw_between(uint64_t *random, int64_t least, int64_t most)
{
    return least + (int64_t) (wr_crew_random(random) % (uint64_t) (most - least + 1));
}

static bool one_in(uint64_t *random, int64_t n)
{
    return wr_draw_between(random, 1, n) == 1;
}

static uint32_t share_of(const struct wr_drawn_rule *rule)
{
    return (uint32_t) ((uint64_t) rule->requests * rule->headroom / 1000);
}

static void draw_numbers(struct wr_drawn_rule *rule, uint64_t *random, int64_t most)
{
    rule->requests = (uint32_t) wr_draw_between(random, 1, most);
    rule->headroom = 1000;
    if ((rule->traits & WR_RULE_HAS_HEADROOM) != 0) {
        rule->headroom = (uint32_t) wr_draw_between(random, 1, 999);
    }
    rule->burst = (uint32_t) wr_draw_between(random, 1, (int64_t) rule->requests * 2 + 3);
    rule->n_buckets = (uint32_t) wr_draw_between(random, 1, 12);
    rule->warm_up_start = (uint32_t) wr_draw_between(random, 1, 1000);
}

/* So that a hit has an interval of its own. */
static int64_t draw_length(uint64_t *random, int64_t requests)
{
    return wr_draw_between(random, 2 * requests, one_in(random, 2) ? 1000 : 1000000);
}

struct wr_drawn_rule wr_drawn_rule(uint64_t *random, enum wr_algorithm algorithm,
                                   enum wr_alignment alignment, unsigned traits, enum wr_unit unit)
{
    const int64_t most = one_in(random, 50) ? MANY : FEW;
    struct wr_drawn_rule rule = {.algorithm = algorithm, .alignment = alignment, .traits = traits};

    draw_numbers(&rule, random, most);
    rule.unit = alignment == WR_ALIGN_CALENDAR ? unit : WR_UNIT_UNKNOWN;
    rule.length_us =
        rule.unit == WR_UNIT_UNKNOWN
            ? draw_length(random, (traits & WR_RULE_VARIES) != 0 ? most : rule.requests)
            : wr_unit_length_us(unit);
    if ((traits & WR_RULE_WARMS_UP) != 0) {
        rule.warm_up_us = wr_draw_between(random, 1, 2 * rule.length_us);
    }
    return rule;
}

void wr_drawn_rule_vary(struct wr_drawn_rule *rule, uint64_t *random)
{
    draw_numbers(rule, random, rule->requests > FEW ? MANY : FEW);
}

/* Words of a draft; each points into the text. */
struct words {
    char window[32], headroom[16], duration[32], start[16];
};

static struct wr_str write_share(char text[16], uint32_t thousandths)
{
    (void) snprintf(text, 16, "%u.%03u", (unsigned) (thousandths / 1000),
                    (unsigned) (thousandths % 1000));
    return wr_str_of(text);
}

static struct wr_str write_us(char text[32], int64_t us)
{
    (void) snprintf(text, 32, "%" PRId64 "us", us);
    return wr_str_of(text);
}

static void add_words(const struct wr_drawn_rule *rule, struct words *words,
                      struct wr_draft_limit *draft)
{
    if (rule->unit != WR_UNIT_UNKNOWN) {
        draft->unit = wr_str_of(wr_unit_name(rule->unit));
    } else {
        draft->window.text = write_us(words->window, rule->length_us);
    }
    if (rule->headroom < 1000) {
        draft->headroom.text = write_share(words->headroom, rule->headroom);
    }
    if (rule->warm_up_us > 0) {
        draft->has_warm_up = true;
        draft->warm_up_duration.text = write_us(words->duration, rule->warm_up_us);
        draft->warm_up_start.text = write_share(words->start, rule->warm_up_start);
    }
}

struct wr_limit wr_drawn_rule_limit(const struct wr_drawn_rule *rule)
{
    struct words words;
    struct wr_draft_limit draft = {
        .requests_per_unit = rule->requests,
        .algorithm = {.text = wr_str_of(wr_algorithm_name(rule->algorithm))},
        .align = {.text = wr_str_of(wr_alignment_name(rule->alignment))},
        .burst = {.is_set = true, .number = rule->burst},
        .buckets = {.is_set = true, .number = rule->n_buckets},
    };

    add_words(rule, &words, &draft);

    struct wr_limit limit = wr_terms_limit(&draft);

    wr_check(limit.requests == share_of(rule), "%u with headroom 0.%03u is %" PRIu64,
             rule->requests, rule->headroom, limit.requests);
    wr_check(limit.length_us == rule->length_us && limit.algorithm == rule->algorithm &&
                 limit.alignment == rule->alignment && limit.warm_up_us == rule->warm_up_us,
             "a rule is not read as it was written");
    limit.count = WR_COUNT_ADMITTED;
    return limit;
}
