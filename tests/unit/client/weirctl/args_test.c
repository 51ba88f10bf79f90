/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/args.h"

#include <criterion/criterion.h>

#define WORDS_MAX 24

/* A command line of its own: the words are split at blanks and may be rewritten. */
struct line {
    char text[256];
    int argc;
    char *argv[WORDS_MAX + 1];
};

static void split(struct line *line, const char *text)
{
    memset(line, 0, sizeof *line);
    memcpy(line->text, text, strlen(text) + 1);
    for (char *word = line->text; word != NULL && line->argc < WORDS_MAX;) {
        char *blank = strchr(word, ' ');

        line->argv[line->argc++] = word;
        if (blank != NULL) {
            *blank++ = '\0';
        }
        word = blank;
    }
}

static struct weirctl_args good(struct line *line, const char *text)
{
    struct weirctl_args args;
    struct weir_error error = {0};

    split(line, text);
    cr_assert_eq(weirctl_args_parse(line->argc, line->argv, &args, &error), WEIR_OK, "%s: %s", text,
                 error.text);
    return args;
}

Test(args, of_a_plain_check)
{
    struct line line;
    const struct weirctl_args args = good(&line, "weirctl check edge user=alice ip=::1,path=/");

    cr_assert_eq(args.command, WEIRCTL_CHECK);
    cr_assert_str_eq(args.domain, "edge");
    cr_assert_str_eq(args.target, "127.0.0.1:8081");
    cr_assert_eq(args.descriptor_count, 2);
    cr_assert_eq(args.descriptors[1].entry_count, 2);
    cr_assert_eq(args.charge, WEIRCTL_CHARGE_DEFAULT);
    cr_assert_not(args.has_limit || args.json);
    cr_assert_eq(args.timeout_ms, 0);
}

Test(args, of_a_check_with_everything_in_any_place)
{
    struct line line;
    const struct weirctl_args args = good(
        &line, "weirctl check --json --hits=7 edge --limit 10/minute k=v --target h:1 --timeout "
               "20ms");

    cr_assert_eq(args.charge, WEIRCTL_CHARGE_HITS);
    cr_assert_eq(args.hits, 7);
    cr_assert(args.has_limit && args.limit.requests == 10 && args.limit.unit == WEIR_UNIT_MINUTE);
    cr_assert_str_eq(args.target, "h:1");
    cr_assert_eq(args.timeout_ms, 20);
    cr_assert(args.json);
    cr_assert_eq(args.descriptor_count, 1);
}

Test(args, of_peek_and_refund)
{
    struct line line;
    struct weirctl_args args = good(&line, "weirctl check edge k=v --peek");

    cr_assert_eq(args.charge, WEIRCTL_CHARGE_PEEK);
    args = good(&line, "weirctl check edge k=v --refund 18446744073709551615");
    cr_assert_eq(args.charge, WEIRCTL_CHARGE_REFUND);
    cr_assert_eq(args.hits, UINT64_MAX);
}

Test(args, after_two_dashes_are_no_options)
{
    struct line line;
    const struct weirctl_args args = good(&line, "weirctl check -- -edge --json=1");

    cr_assert_str_eq(args.domain, "-edge");
    cr_assert_not(args.json);
    cr_assert_eq(args.descriptor_count, 1);
}

Test(args, of_health)
{
    struct line line;
    struct weirctl_args args = good(&line, "weirctl health");

    cr_assert_eq(args.command, WEIRCTL_HEALTH);
    cr_assert_str_empty(args.service);
    cr_assert_not(args.watch);
    args = good(&line, "weirctl health --watch ratelimit --json");
    cr_assert(args.watch && args.json);
    cr_assert_str_eq(args.service, "ratelimit");
}

Test(args, of_a_bench)
{
    struct line line;
    struct weirctl_args args = good(&line, "weirctl bench edge k=v");

    cr_assert_eq(args.command, WEIRCTL_BENCH);
    cr_assert_eq(args.rate + args.connections + args.in_flight + args.requests + args.keys, 0);
    args = good(&line, "weirctl bench edge k=v --rate 5 --connections 4 --in-flight 50 --duration "
                       "2s --requests 1000 --keys 7 --peek");
    cr_assert_eq(args.rate, 5);
    cr_assert_eq(args.connections, 4);
    cr_assert_eq(args.in_flight, 50);
    cr_assert_eq(args.duration_ms, 2000);
    cr_assert_eq(args.requests, 1000);
    cr_assert_eq(args.keys, 7);
    cr_assert_eq(args.charge, WEIRCTL_CHARGE_PEEK);
}

Test(args, that_ask_for_help_or_the_version)
{
    struct line line;

    cr_assert_eq(good(&line, "weirctl --help").command, WEIRCTL_HELP);
    cr_assert_eq(good(&line, "weirctl -h").command, WEIRCTL_HELP);
    cr_assert_eq(good(&line, "weirctl check --help").command, WEIRCTL_HELP);
    cr_assert_eq(good(&line, "weirctl health x -h").command, WEIRCTL_HELP);
    cr_assert_eq(good(&line, "weirctl --version").command, WEIRCTL_VERSION);
    cr_assert_eq(good(&line, "weirctl -V").command, WEIRCTL_VERSION);
}

static const struct {
    const char *text;
    const char *part; /* of the error */
} bad[] = {
    {"weirctl", "a command is missing"},
    {"weirctl chek edge k=v", "'chek' is no command"},
    {"weirctl check", "a DOMAIN and a descriptor"},
    {"weirctl check edge", "a DOMAIN and a descriptor"},
    {"weirctl check edge k", "is not key=value"},
    {"weirctl check edge k=v --hits", "--hits takes a number"},
    {"weirctl check edge k=v --hits 0", "--hits takes a number"},
    {"weirctl check edge k=v --hits 4294967296", "--hits takes a number"},
    {"weirctl check edge k=v --hits 1 --peek", "--peek excludes"},
    {"weirctl check edge k=v --peek --refund 1", "excludes --hits and --peek"},
    {"weirctl check edge k=v --peek=1", "--peek takes no value"},
    {"weirctl check edge k=v --limit 10/weeks", "such as 10/minute"},
    {"weirctl check edge k=v --timeout 20", "--timeout takes a number with"},
    {"weirctl check edge k=v --target weir", "needs a host and a port"},
    {"weirctl check edge k=v --watch", "--watch is no option of this command"},
    {"weirctl check edge k=v --hit 1", "--hit is no option"},
    {"weirctl check edge k=v --hit=1", "--hit is no option"},
    {"weirctl check edge k=v -x", "-x is no option"},
    {"weirctl check edge a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9", "at most 8 descriptors"},
    {"weirctl health one two", "one SERVICE"},
    {"weirctl health --peek", "--peek is no option of this command"},
    {"weirctl health --watch --timeout 1s", "no --timeout"},
    {"weirctl bench edge", "bench takes a DOMAIN and a descriptor"},
    {"weirctl bench edge k=v --rate 0", "--rate takes a number"},
    {"weirctl bench edge k=v --rate 10000001", "--rate takes a number"},
    {"weirctl bench edge k=v --connections 10001", "--connections takes a number"},
    {"weirctl bench edge k=v --in-flight x", "--in-flight takes a number"},
    {"weirctl bench edge k=v --duration 10", "--duration takes a number with"},
    {"weirctl bench edge k=v --requests", "--requests takes a number"},
    {"weirctl bench edge k=v --keys 100000001", "--keys takes a number"},
    {"weirctl bench edge k=v --watch", "--watch is no option of this command"},
    {"weirctl check edge k=v --rate 5", "--rate is no option of this command"},
};

Test(args, that_are_wrong_get_told_what_is_right)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct line line;
        struct weirctl_args args;
        struct weir_error error = {0};

        split(&line, bad[i].text);
        cr_assert_neq(weirctl_args_parse(line.argc, line.argv, &args, &error), WEIR_OK, "%s",
                      bad[i].text);
        cr_assert_neq(strstr(error.text, bad[i].part), NULL, "%s: %s", bad[i].text, error.text);
    }
}

Test(args, refuse_an_empty_domain_and_an_empty_descriptor)
{
    char program[] = "weirctl", check[] = "check", edge[] = "edge", empty[] = "", pair[] = "k=v";
    char *no_domain[] = {program, check, empty, pair, NULL};
    char *no_descriptor[] = {program, check, edge, empty, NULL};
    struct weirctl_args args;
    struct weir_error error = {0};

    cr_assert_eq(weirctl_args_parse(4, no_domain, &args, &error), WEIR_ERR_INVALID);
    cr_assert_eq(weirctl_args_parse(4, no_descriptor, &args, &error), WEIR_ERR_INVALID);
    cr_assert_eq(weirctl_args_parse(0, no_descriptor, &args, &error), WEIR_ERR_INVALID);
}
