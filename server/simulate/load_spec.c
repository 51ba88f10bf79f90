/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/load_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATE 1000000000
#define MAX_DURATION_US UINT64_C(3153600000000000) /* a hundred years */

static const struct {
    const char *name;
    enum wr_load_kind kind;
    bool needs_rate;
} kinds[] = {
    {"steady", WR_LOAD_STEADY, true},
    {"poisson", WR_LOAD_POISSON, true},
    {"boundary", WR_LOAD_BOUNDARY, false},
    {"adversary", WR_LOAD_ADVERSARY, false},
};

static const struct {
    const char *name;
    int64_t us;
} units[] = {
    {"us", 1},       {"ms", 1000},      {"s", 1000000},
    {"m", 60000000}, {"h", 3600000000}, {"d", INT64_C(86400000000)},
};

static bool refuse(char message[WR_LOAD_MESSAGE_SIZE], const char *what, const char *text)
{
    (void) snprintf(message, WR_LOAD_MESSAGE_SIZE, "%s: '%.60s'", what, text);
    return false;
}

static bool find_unit(const char *text, int64_t *out_us)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].name) == 0) {
            *out_us = units[i].us;
            return true;
        }
    }
    return false;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *out_number, char **out_end)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *out_number = strtoull(text, out_end, 10);
    return errno == 0 && *out_number <= max;
}

/* 5m, 250ms */
static bool parse_duration(const char *text, int64_t *out_us)
{
    uint64_t number = 0;
    char *end = NULL;
    int64_t unit_us = 0;

    if (!parse_number(text, UINT32_MAX, &number, &end) || !find_unit(end, &unit_us) ||
        number > MAX_DURATION_US / (uint64_t) unit_us) {
        return false;
    }
    *out_us = (int64_t) number * unit_us;
    return number > 0;
}

bool wr_rate_parse(const char *text, struct wr_rate *out_rate)
{
    char *end = NULL;

    return parse_number(text, MAX_RATE, &out_rate->hits, &end) && out_rate->hits > 0 &&
           *end == '/' && find_unit(end + 1, &out_rate->per_us);
}

static bool parse_count(const char *text, uint64_t *out_number)
{
    char *end = NULL;

    return parse_number(text, UINT32_MAX, out_number, &end) && *end == '\0';
}

static bool set(struct wr_load_spec *spec, const char *name, const char *value,
                char message[WR_LOAD_MESSAGE_SIZE])
{
    if (strcmp(name, "rate") == 0) {
        return wr_rate_parse(value, &spec->rate) ||
               refuse(message, "a rate is NUMBER/UNIT, as 20/s or 100/m", value);
    }
    if (strcmp(name, "for") == 0) {
        return parse_duration(value, &spec->duration_us) ||
               refuse(message, "a time is NUMBER and one of us, ms, s, m, h, d", value);
    }
    if (strcmp(name, "gap") == 0) {
        return parse_duration(value, &spec->gap_us) ||
               refuse(message, "a time is NUMBER and one of us, ms, s, m, h, d", value);
    }
    if (strcmp(name, "hits") == 0) {
        return parse_count(value, &spec->hits) || refuse(message, "hits is a number", value);
    }
    if (strcmp(name, "seed") == 0) {
        return parse_count(value, &spec->seed) || refuse(message, "seed is a number", value);
    }
    return refuse(message, "a load has rate, for, gap, hits and seed", name);
}

/* `text` is written to. */
static bool parse_parts(char *text, struct wr_load_spec *spec, char message[WR_LOAD_MESSAGE_SIZE])
{
    char *rest = NULL;
    const char *const kind = strtok_r(text, ",", &rest);
    bool needs_rate = false, is_known = false;

    for (size_t i = 0; kind != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            spec->kind = kinds[i].kind;
            needs_rate = kinds[i].needs_rate;
            is_known = true;
        }
    }
    if (!is_known) {
        return refuse(message, "a load is steady, poisson, boundary, adversary or csv:FILE",
                      kind != NULL ? kind : "");
    }
    for (char *part = NULL; (part = strtok_r(NULL, ",", &rest)) != NULL;) {
        char *const sign = strchr(part, '=');

        if (sign == NULL) {
            return refuse(message, "what follows the kind is NAME=VALUE", part);
        }
        *sign = '\0';
        if (!set(spec, part, sign + 1, message)) {
            return false;
        }
    }
    return !needs_rate || spec->rate.hits > 0 ||
           refuse(message, "this load needs a rate, as rate=20/s", kind);
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
