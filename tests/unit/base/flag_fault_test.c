/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flag_fault.h"

#include <criterion/criterion.h>
#include <getopt.h>
#include <stdio.h>

static const struct option flags[] = {
    {"alpha", required_argument, NULL, WR_FLAG_FIRST},
    {"alphabet", no_argument, NULL, WR_FLAG_FIRST + 1},
    {"beta", no_argument, NULL, WR_FLAG_FIRST + 2},
    {"gamma-one", no_argument, NULL, WR_FLAG_FIRST + 3},
    {"gamma-two", no_argument, NULL, WR_FLAG_FIRST + 4},
    {"gamma-ten", no_argument, NULL, WR_FLAG_FIRST + 5},
    {0},
};

static struct wr_flag_fault fault_of(const char *const words[3])
{
    char texts[3][128], name[] = "test";
    char *argv[5] = {name};
    int argc = 1, got;
    struct wr_flag_fault fault;

    for (; argc <= 3 && words[argc - 1] != NULL; argc++) {
        argv[argc] = texts[argc - 1];
        (void) snprintf(argv[argc], sizeof texts[0], "%s", words[argc - 1]);
    }
    optind = 0;
    opterr = 0;
    do {
        got = getopt_long(argc, argv, ":h", flags, NULL);
        cr_assert_neq(got, -1, "%s: nothing is wrong", words[0]);
    } while (got != '?' && got != ':');
    wr_flag_fault_of(got, argv[optind - 1], flags, &fault);
    fault.unknown.ptr = NULL; /* in what ends here */
    return fault;
}

#define LONG "0123456789012345678901234567890123456789012345678901234567"

Test(flag_fault, says_what_is_wrong_and_shows_no_value)
{
    static const struct {
        const char *words[3], *text;
        size_t unknown_len;
    } rows[] = {
        {{"--alpha"}, "--alpha needs a value", 0},
        {{"--alpha", "a", "--alpha"}, "--alpha needs a value", 0},
        {{"--beta=1"}, "--beta takes no value", 0},
        {{"--bet=1"}, "--bet takes no value", 0},
        {{"--alp"}, "--alp is short for --alpha, --alphabet", 0},
        {{"--gamma=1"}, "--gamma is short for --gamma-one, --gamma-two and others", 0},
        {{"--delta"}, "there is no option --delta", 5},
        {{"--delta=secret"}, "there is no option --delta", 5},
        {{"--=secret"}, "there is no option --", 0},
        {{"-x"}, "there is no option -x", 0},
        {{"--alpha", "secret", "-xy"}, "there is no option -x", 0},
        {{"-hx=secret"}, "there is no option -x", 0},
        {{"-\xc3\xa4"}, "there is no option -?", 0},
        {{"--" LONG "secret"}, "there is no option --" LONG, 64},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_flag_fault fault = fault_of(rows[i].words);

        cr_assert_str_eq(fault.text, rows[i].text, "row %zu: %s", i, fault.text);
        cr_assert_eq(fault.unknown.len, rows[i].unknown_len, "row %zu", i);
    }
}
