/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/load_spec.h"

#include <criterion/criterion.h>
#include <string.h>

#define S(seconds) (INT64_C(1000000) * (seconds))

Test(load_spec, read)
{
    static const struct {
        const char *text;
        struct wr_load_spec spec;
    } rows[] = {
        {"steady,rate=20/s", {.kind = WR_LOAD_STEADY, .rate = {20, S(1)}, .seed = 1}},
        {"steady,rate=1/ms,for=5m",
         {.kind = WR_LOAD_STEADY, .rate = {1, 1000}, .duration_us = S(300), .seed = 1}},
        {"poisson,rate=600/m,seed=7,for=2h",
         {.kind = WR_LOAD_POISSON, .rate = {600, S(60)}, .duration_us = S(7200), .seed = 7}},
        {"boundary", {.kind = WR_LOAD_BOUNDARY, .seed = 1}},
        {"boundary,hits=9,gap=250us",
         {.kind = WR_LOAD_BOUNDARY, .hits = 9, .gap_us = 250, .seed = 1}},
        {"steady,rate=4294967295/s",
         {.kind = WR_LOAD_STEADY, .rate = {UINT32_MAX, S(1)}, .seed = 1}},
        {"steady,rate=1/100ms", {.kind = WR_LOAD_STEADY, .rate = {1, 100000}, .seed = 1}},
        {"steady,rate=600/Minute", {.kind = WR_LOAD_STEADY, .rate = {600, S(60)}, .seed = 1}},
        {"boundary,gap=1.5s", {.kind = WR_LOAD_BOUNDARY, .gap_us = S(3) / 2, .seed = 1}},
        {"adversary,for=1h30m", {.kind = WR_LOAD_ADVERSARY, .duration_us = S(5400), .seed = 1}},
        {"adversary,for=1d", {.kind = WR_LOAD_ADVERSARY, .duration_us = S(86400), .seed = 1}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_load_spec spec;
        char message[WR_LOAD_MESSAGE_SIZE] = "";

        cr_assert(wr_load_spec_parse(rows[i].text, &spec, message), "%s: %s", rows[i].text,
                  message);
        cr_assert_eq(spec.kind, rows[i].spec.kind, "%s", rows[i].text);
        cr_assert_eq(spec.rate.hits, rows[i].spec.rate.hits, "%s", rows[i].text);
        cr_assert_eq(spec.rate.per_us, rows[i].spec.rate.per_us, "%s", rows[i].text);
        cr_assert_eq(spec.duration_us, rows[i].spec.duration_us, "%s", rows[i].text);
        cr_assert_eq(spec.gap_us, rows[i].spec.gap_us, "%s", rows[i].text);
        cr_assert_eq(spec.hits, rows[i].spec.hits, "%s", rows[i].text);
        cr_assert_eq(spec.seed, rows[i].spec.seed, "%s", rows[i].text);
    }
}

Test(load_spec, a_trace)
{
    struct wr_load_spec spec;
    char message[WR_LOAD_MESSAGE_SIZE] = "";

    cr_assert(wr_load_spec_parse("csv:a,b.csv", &spec, message));
    cr_assert_eq(spec.kind, WR_LOAD_CSV);
    cr_assert_str_eq(spec.path, "a,b.csv");
}

Test(load_spec, refused)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "a load is steady"},
        {"flood", "'flood'"},
        {"csv:", "needs a file"},
        {"steady", "needs a rate"},
        {"steady,rate=0/s", "a rate is 1 or more in its unit: '0/s'"},
        {"steady,rate=00/s", "a rate is 1 or more in its unit"},
        {"steady,rate=0.5/s", "a rate has a whole number; in place of 0.5/s write 1/2s: '0.5/s'"},
        {"steady,rate=.5/s", "a rate has a whole number"},
        {"steady,rate=/s", "20/s"},
        {"steady,rate=1,5/s", "20/s"},
        {"steady,rate=20", "20/s"},
        {"steady,rate=20/", "behind its / a rate has a unit"},
        {"steady,rate=20/fortnight", "behind its / a rate has a unit or a time as in rules, as s"},
        {"steady,rate=20/0s", "behind its / a rate has a unit or a time as in rules"},
        {"steady,rate=20/1.x", "behind its / a rate has a unit or a time as in rules"},
        {"steady,rate=4294967296/s", "a rate is at most 4294967295 in its unit, as in rules"},
        {"steady,rate=99999999999999999999999/s", "a rate is at most 4294967295 in its unit"},
        {"steady,rate=-1/s", "20/s"},
        {"steady,rate=20/s,for=5", "as in rules"},
        {"steady,rate=20/s,for=0s", "as in rules"},
        {"steady,rate=20/s,for=4294967295d", "as in rules"},
        {"boundary,hits=x", "hits is a number"},
        {"boundary,hits", "NAME=VALUE"},
        {"boundary,hits=0", "hits is a number"},
        {"boundary,size=3", "hits= and gap= only, not: 'size'"},
        {"boundary,rate=3/s", "hits= and gap= only, not: 'rate'"},
        {"steady,rate=1/s,seed=3", "rate= and for= only"},
        {"adversary,hits=3", "for= only"},
        {"poisson,rate=1/s,gap=1s", "rate=, for= and seed= only"},
        {"poisson,rate=1/s,seed=1,rate=1/s", "said twice: 'rate'"},
        {"steady,rate=1/s,", "NAME=VALUE"},
        {"steady,,rate=1/s", "NAME=VALUE"},
        {"poisson,rate=1/s,seed=99999999999", "seed is a number"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_load_spec spec;
        char message[WR_LOAD_MESSAGE_SIZE] = "";

        cr_assert_not(wr_load_spec_parse(rows[i].text, &spec, message), "%s", rows[i].text);
        cr_assert_not_null(strstr(message, rows[i].says), "%s: %s", rows[i].text, message);
    }
}
