/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/duration.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"

#define NS_PER_US INT64_C(1000)
#define DURATION_MAX_NS (WR_DURATION_MAX_US * NS_PER_US)

/* Each before those that begin like it; the micro sign is U+00B5 or U+03BC, as in Go. */
static const struct unit {
    struct wr_str name;
    int64_t ns;
} units[] = {
    {WR_STR("ns"), 1},
    {WR_STR("us"), NS_PER_US},
    {WR_STR("\xc2\xb5s"), NS_PER_US},
    {WR_STR("\xce\xbcs"), NS_PER_US},
    {WR_STR("ms"), INT64_C(1000000)},
    {WR_STR("s"), INT64_C(1000000000)},
    {WR_STR("m"), INT64_C(60000000000)},
    {WR_STR("h"), INT64_C(3600000000000)},
    {WR_STR("d"), INT64_C(86400000000000)},
    {WR_STR("w"), INT64_C(604800000000000)},
};

#define N_UNITS (sizeof units / sizeof units[0])

/* Takes the digits that `text` begins with. */
static struct wr_str take_digits(struct wr_str *text)
{
    const struct wr_str digits = wr_str_part(*text, 0, wr_number_digits(*text));

    *text = wr_str_skip(*text, digits.len);
    return digits;
}

static const struct unit *take_unit(struct wr_str *text)
{
    for (size_t i = 0; i < N_UNITS; i++) {
        if (wr_str_has_prefix(*text, units[i].name)) {
            *text = wr_str_skip(*text, units[i].name.len);
            return &units[i];
        }
    }
    return NULL;
}

static enum wr_duration_fault add(int64_t *ns, int64_t more_ns)
{
    if (more_ns > DURATION_MAX_NS - *ns) {
        return WR_DURATION_TOO_LONG;
    }
    *ns += more_ns;
    return WR_DURATION_GOOD;
}

static enum wr_duration_fault add_whole(int64_t *ns, struct wr_str digits, int64_t unit_ns)
{
    int64_t n = 0;

    for (size_t i = 0; i < digits.len; i++) {
        if (n > DURATION_MAX_NS / unit_ns / 10) {
            return WR_DURATION_TOO_LONG;
        }
        n = n * 10 + (digits.ptr[i] - '0');
        if (n > DURATION_MAX_NS / unit_ns) {
            return WR_DURATION_TOO_LONG;
        }
    }
    return add(ns, n * unit_ns);
}

/* A digit behind the point is worth a tenth of what the one before it is. */
static enum wr_duration_fault add_fraction(int64_t *ns, struct wr_str digits, int64_t unit_ns)
{
    enum wr_duration_fault fault = WR_DURATION_GOOD;
    int64_t worth_ns = unit_ns;

    for (size_t i = 0; i < digits.len && fault == WR_DURATION_GOOD; i++) {
        const int64_t digit = digits.ptr[i] - '0';

        if (digit > 0 && worth_ns % 10 != 0) {
            return WR_DURATION_TOO_FINE;
        }
        worth_ns /= 10;
        fault = add(ns, digit * worth_ns);
    }
    return fault;
}

/* A number and its unit. */
static enum wr_duration_fault add_part(int64_t *ns, struct wr_str *text)
{
    const struct wr_str whole = take_digits(text);
    struct wr_str fraction = {0};

    if (text->len > 0 && text->ptr[0] == '.') {
        *text = wr_str_skip(*text, 1);
        fraction = take_digits(text);
    }
    if (whole.len + fraction.len == 0) {
        return WR_DURATION_NO_LENGTH;
    }
    if (text->len == 0) {
        return WR_DURATION_NO_UNIT;
    }

    const struct unit *const unit = take_unit(text);

    if (unit == NULL) {
        return WR_DURATION_NO_LENGTH;
    }

    const enum wr_duration_fault fault = add_whole(ns, whole, unit->ns);

    return fault == WR_DURATION_GOOD ? add_fraction(ns, fraction, unit->ns) : fault;
}

enum wr_duration_fault wr_duration_parse(struct wr_str text, int64_t *out_us)
{
    enum wr_duration_fault fault = text.len == 0 ? WR_DURATION_NO_LENGTH : WR_DURATION_GOOD;
    int64_t ns = 0;

    while (text.len > 0 && fault == WR_DURATION_GOOD) {
        fault = add_part(&ns, &text);
    }
    if (fault == WR_DURATION_GOOD && ns % NS_PER_US != 0) {
        fault = WR_DURATION_TOO_FINE;
    }
    if (fault == WR_DURATION_GOOD) {
        *out_us = ns / NS_PER_US;
    }
    return fault;
}

void wr_duration_write(int64_t us, char out_text[WR_DURATION_TEXT_SIZE])
{
    size_t i = N_UNITS - 1;

    while (units[i].ns > NS_PER_US && us % (units[i].ns / NS_PER_US) != 0) {
        i--;
    }
    /* the micro signs are us as well */
    if (units[i].ns == NS_PER_US) {
        (void) snprintf(out_text, WR_DURATION_TEXT_SIZE, "%" PRId64 "us", us);
        return;
    }
    (void) snprintf(out_text, WR_DURATION_TEXT_SIZE, "%" PRId64 "%s",
                    us / (units[i].ns / NS_PER_US), units[i].name.ptr);
}
