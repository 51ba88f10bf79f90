/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/load_spec.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "limit/unit.h"
#include "rules/duration.h"

#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)

enum part {
    PART_RATE = 1U << 0,
    PART_FOR = 1U << 1,
    PART_GAP = 1U << 2,
    PART_HITS = 1U << 3,
    PART_SEED = 1U << 4,
};

static const struct kind {
    const char *name;
    enum wr_load_kind kind;
    unsigned parts;
    const char *takes; /* the parts, for people */
} kinds[] = {
    {"steady", WR_LOAD_STEADY, PART_RATE | PART_FOR, "steady takes rate= and for= only, not"},
    {"poisson", WR_LOAD_POISSON, PART_RATE | PART_FOR | PART_SEED,
     "poisson takes rate=, for= and seed= only, not"},
    {"boundary", WR_LOAD_BOUNDARY, PART_HITS | PART_GAP, "boundary takes hits= and gap= only, not"},
    {"adversary", WR_LOAD_ADVERSARY, PART_FOR, "adversary takes for= only, not"},
};

static const struct {
    const char *name;
    enum part part;
    const char *rule; /* what is right */
} parts[] = {
    {"rate", PART_RATE, NULL}, /* wr_rate_parse says */
    {"for", PART_FOR, "a time is one as in rules, as 5m or 1h30m"},
    {"gap", PART_GAP, "a time is one as in rules, as 5ms or 1.5s"},
    {"hits", PART_HITS, "hits is a number from 1"},
    {"seed", PART_SEED, "seed is a number"},
};

#define N_PARTS (sizeof parts / sizeof parts[0])

static bool refuse(char message[WR_LOAD_MESSAGE_SIZE], const char *what, const char *text)
{
    (void) snprintf(message, WR_LOAD_MESSAGE_SIZE, "%s: '%.60s'", what, text);
    return false;
}

static bool parse_length(const char *text, int64_t *out_us)
{
    int64_t us = 0;

    if (wr_duration_parse(wr_str_of(text), &us) != WR_DURATION_GOOD || us == 0) {
        return false;
    }
    *out_us = us;
    return true;
}

/* minute, m, 90s */
static bool parse_per(const char *text, int64_t *out_us)
{
    const enum wr_unit unit = wr_unit_of_name(wr_str_of(text));
    char one[WR_DURATION_TEXT_SIZE];

    if (unit != WR_UNIT_UNKNOWN) {
        *out_us = wr_unit_length_us(unit);
        return true;
    }
    if (wr_number_digits(wr_str_of(text)) > 0) {
        return parse_length(text, out_us);
    }
    (void) snprintf(one, sizeof one, "1%.8s", text);
    return parse_length(one, out_us);
}

/* 0.5, .5 */
static bool has_fraction(struct wr_str number)
{
    const struct wr_str rest = wr_str_skip(number, wr_number_digits(number));

    return rest.len > 1 && rest.ptr[0] == '.' &&
           wr_number_digits(wr_str_skip(rest, 1)) == rest.len - 1;
}

/* What keeps `number` from being that of a rate. */
static const char *fault_of(struct wr_str number)
{
    if (number.len > 0 && wr_number_digits(number) == number.len) {
        return "a rate is at most " NUMBER_TEXT(WR_RATE_MAX) " in its unit, as in rules";
    }
    return has_fraction(number) ? "a rate has a whole number; in place of 0.5/s write 1/2s"
                                : "a rate is NUMBER/UNIT, as 20/s, 600/minute or 1/100ms";
}

bool wr_rate_parse(const char *text, struct wr_rate *out_rate, char message[WR_LOAD_MESSAGE_SIZE])
{
    const char *const slash = strchr(text, '/');
    const struct wr_str number = {.ptr = text, .len = slash == NULL ? 0 : (size_t) (slash - text)};
    struct wr_rate rate;

    if (!wr_number_parse(number, WR_RATE_MAX, &rate.hits)) {
        return refuse(message, fault_of(number), text);
    }
    if (rate.hits == 0) {
        return refuse(message, "a rate is 1 or more in its unit", text);
    }
    if (!parse_per(slash + 1, &rate.per_us)) {
        return refuse(message,
                      "behind its / a rate has a unit or a time as in rules, as s, minute or 100ms",
                      text);
    }
    *out_rate = rate;
    return true;
}

/* Of the part that is named so, as far as the kind takes it; N_PARTS: there is none. */
static size_t index_of(const struct kind *kind, const char *name)
{
    size_t i = 0;

    while (i < N_PARTS &&
           (strcmp(name, parts[i].name) != 0 || (kind->parts & parts[i].part) == 0)) {
        i++;
    }
    return i;
}

/* Of any part but the rate. */
static bool parse_part(enum part part, const char *value, struct wr_load_spec *spec)
{
    switch (part) {
    case PART_RATE:
        break;
    case PART_FOR:
        return parse_length(value, &spec->duration_us);
    case PART_GAP:
        return parse_length(value, &spec->gap_us);
    case PART_HITS:
        return wr_number_parse(wr_str_of(value), UINT32_MAX, &spec->hits) && spec->hits > 0;
    case PART_SEED:
        return wr_number_parse(wr_str_of(value), UINT32_MAX, &spec->seed);
    }
    return false;
}

/* NAME=VALUE, which is written to. */
static bool set(const struct kind *kind, char *text, struct wr_load_spec *spec, unsigned *said,
                char message[WR_LOAD_MESSAGE_SIZE])
{
    char *const sign = strchr(text, '=');

    if (sign == NULL) {
        return refuse(message, "what follows the kind is NAME=VALUE", text);
    }
    *sign = '\0';

    const size_t i = index_of(kind, text);

    if (i == N_PARTS) {
        return refuse(message, kind->takes, text);
    }
    if ((*said & parts[i].part) != 0) {
        return refuse(message, "it is said twice", text);
    }
    *said |= parts[i].part;
    if (parts[i].part == PART_RATE) {
        return wr_rate_parse(sign + 1, &spec->rate, message);
    }
    return parse_part(parts[i].part, sign + 1, spec) || refuse(message, parts[i].rule, sign + 1);
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* What stands before the next comma, which is overwritten; `*text` is NULL behind the last. */
static char *cut(char **text)
{
    char *const part = *text;
    char *const comma = strchr(part, ',');

    if (comma != NULL) {
        *comma = '\0';
    }
    *text = comma == NULL ? NULL : comma + 1;
    return part;
}

/* `text` is written to. */
static bool parse_parts(char *text, struct wr_load_spec *spec, char message[WR_LOAD_MESSAGE_SIZE])
{
    const char *const name = cut(&text);
    const struct kind *const kind = find_kind(name);
    unsigned said = 0;

    if (kind == NULL) {
        return refuse(message, "a load is steady, poisson, boundary, adversary or csv:FILE", name);
    }
    spec->kind = kind->kind;
    while (text != NULL) {
        if (!set(kind, cut(&text), spec, &said, message)) {
            return false;
        }
    }
    return (kind->parts & PART_RATE) == 0 || spec->rate.hits > 0 ||
           refuse(message, "this load needs a rate, as rate=20/s", kind->name);
}

bool wr_load_spec_parse(const char *text, struct wr_load_spec *out_spec,
                        char message[WR_LOAD_MESSAGE_SIZE])
{
    static const char csv[] = "csv:";
    char copy[512];

    *out_spec = (struct wr_load_spec){.seed = 1};
    if (strncmp(text, csv, sizeof csv - 1) == 0) {
        out_spec->kind = WR_LOAD_CSV;
        out_spec->path = text + sizeof csv - 1;
        return *out_spec->path != '\0' || refuse(message, "csv: needs a file behind it", text);
    }
    if (strlen(text) >= sizeof copy) {
        return refuse(message, "a load of over 500 bytes", text);
    }
    (void) snprintf(copy, sizeof copy, "%s", text);
    return parse_parts(copy, out_spec, message);
}
