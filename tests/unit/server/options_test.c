/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 8

/* Parses the words after the program's name; what was said about them is in `said`. */
static bool parse(const char *const *words, struct wr_command_line *line, char *said, size_t size)
{
    static char name[] = "weir", texts[MAX_ARGS][128];
    char *argv[MAX_ARGS + 2] = {name};
    int argc = 1;
    FILE *const err = fmemopen(said, size, "w");

    cr_assert_not_null(err);
    for (; words[argc - 1] != NULL; argc++) {
        cr_assert_leq(argc, MAX_ARGS);
        argv[argc] = texts[argc - 1];
        (void) snprintf(argv[argc], sizeof texts[0], "%s", words[argc - 1]);
    }

    const bool parsed = wr_command_line_parse(argc, argv, err, line);

    fclose(err);
    return parsed;
}

#define PARSE(line, said, ...)                                                                     \
    parse((const char *const[]){__VA_ARGS__, NULL}, &(line), (said), sizeof(said))

Test(options, have_their_defaults)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert(PARSE(line, said, NULL), "%s", said);
    cr_assert_eq(line.command, WR_COMMAND_SERVE);
    cr_assert_eq(line.options.grpc_port, 8081);
    cr_assert_str_eq(line.options.grpc_host, "0.0.0.0");
    cr_assert_eq(line.options.slots, 1024);
    cr_assert_eq(line.options.max_message_bytes, 4 << 20);
    cr_assert_geq(line.options.max_streams, 1024);
    cr_assert_eq(line.options.failure_mode, WR_FAILURE_ERROR);
    cr_assert_str_eq(line.options.degraded_header, "");
    cr_assert_not(line.options.stops_when_over);
    cr_assert_eq(line.options.unix_socket_mode, 0660);
    cr_assert_eq(line.options.drain_delay_us, 0);
    cr_assert_eq(line.options.drain_timeout_us, 10000000);
    cr_assert_eq(line.options.handshake_timeout_us, 10000000);
    cr_assert_eq(line.options.max_connection_age_us, INT64_C(24) * 3600 * 1000000);
    cr_assert_eq(line.options.max_connection_age_grace_us, INT64_C(3600) * 1000000);
    cr_assert_eq(line.options.rules.n, 0);
    cr_assert_not(line.options.has_shadow_mode);
}

Test(options, a_flag_beats_a_variable_beats_the_default)
{
    struct wr_command_line line;
    char said[1024] = "";

    setenv("WEIR_SLOTS", "7", 1);
    setenv("WEIR_RULES", "a,b", 1);
    setenv("SHADOW_MODE", "true", 1);
    cr_assert(PARSE(line, said, "--workers", "3"), "%s", said);
    cr_assert_eq(line.options.slots, 7);
    cr_assert_eq(line.options.workers, 3);
    cr_assert_eq(line.options.rules.n, 2);
    cr_assert_str_eq(line.options.rules.items[1], "b");
    cr_assert(line.options.has_shadow_mode);
    wr_command_line_fini(&line);
    cr_assert(PARSE(line, said, "--slots=8", "--rules", "c", "--shadow-mode=false"), "%s", said);
    cr_assert_eq(line.options.slots, 8);
    cr_assert_eq(line.options.rules.n, 1);
    cr_assert_str_eq(line.options.rules.items[0], "c");
    cr_assert_not(line.options.has_shadow_mode);
    wr_command_line_fini(&line);
}

Test(options, flags_may_stand_between_and_behind_operands)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert(PARSE(line, said, "check", "a.yaml", "--strict", "b.yaml"), "%s", said);
    cr_assert_eq(line.command, WR_COMMAND_CHECK);
    cr_assert(line.options.is_strict);
    cr_assert_eq(line.n_operands, 2);
    cr_assert_str_eq(line.operands[0], "a.yaml");
    cr_assert_str_eq(line.operands[1], "b.yaml");
}

Test(options, durations_are_sums_with_units)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } rows[] = {
        {"0", 0},
        {"5s", 5000000},
        {"250ms", 250000},
        {"1m30s", 90000000},
        {"10us", 10},
        {"1h", 3600000000},
        {"", -1},
        {"5", -1},
        {"s", -1},
        {"-1s", -1},
        {"1s2", -1},
        {"2d", -1},
        {"99999999999999999999s", -1},
        {"25h", -1},
        {"18446744073709551615us", -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_command_line line;
        char said[1024] = "";
        const bool parsed = PARSE(line, said, "--drain-timeout", rows[i].text);

        cr_assert_eq(parsed, rows[i].us >= 0, "row %zu: '%s'", i, rows[i].text);
        if (parsed) {
            cr_assert_eq(line.options.drain_timeout_us, rows[i].us, "row %zu", i);
        } else {
            cr_assert_not_null(strstr(said, "--drain-timeout"), "row %zu: %s", i, said);
        }
    }
}

Test(options, a_duration_can_have_a_least)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert(PARSE(line, said, "--rules-poll-interval", "10ms"), "%s", said);
    cr_assert_eq(line.options.rules_poll_us, 10000);
    cr_assert_not(PARSE(line, said, "--rules-poll-interval", "9ms"));
    cr_assert_not_null(strstr(said, "at least 10ms"), "%s", said);
    cr_assert_not(PARSE(line, said, "--rules-poll-interval", "0"));
}

Test(options, a_bad_value_is_named_with_what_is_allowed)
{
    static const struct {
        const char *words[4];
        const char *says[2];
    } rows[] = {
        {{"--slots", "0"}, {"--slots", "from 1 to"}},
        {{"--slots", "1x"}, {"'1x'", "whole number"}},
        {{"--slots", "-1"}, {"'-1'", "whole number"}},
        {{"--slots", "99999999999999999999999"}, {"--slots", "whole number"}},
        {{"--failure-mode", "local"}, {"--failure-mode", "--store local"}},
        {{"--failure-mode", "open"}, {"'open'", "allow"}},
        {{"--store", "paper"}, {"'paper'", "local"}},
        {{"--log-level", "loud"}, {"--log-level", "debug"}},
        {{"--unix-socket-mode", "0999"}, {"--unix-socket-mode", "octal"}},
        {{"--shadow-mode=perhaps"}, {"--shadow-mode", "true or false"}},
        {{"--rules", ""}, {"--rules", "not empty"}},
        {{"--slots"}, {"--slots", "needs a value"}},
        {{"--unheard-of"}, {"--unheard-of", "--help"}},
        {{"frobnicate"}, {"frobnicate", "check"}},
        {{"check", "x.yaml", "--bogus"}, {"--bogus", "--help"}},
        {{"check", "--slots", "--strict"}, {"--slots", "whole number"}},
        {{"--limit-header", ""}, {"--limit-header", "header name"}},
        {{"--degraded-header", "a b"}, {"--degraded-header", "header name"}},
        {{"--stop-increment-when-over-limit=so"}, {"--stop-increment", "true or false"}},
        {{"--reset-header", "a b:c"}, {"--reset-header", "header name"}},
        {{"--remaining-header", "grpc-status"}, {"--remaining-header", "gRPC sets itself"}},
        {{"--max-memory-bytes", "1000000"}, {"--max-memory-bytes", "at least 67108864"}},
        {{"-x"}, {"-x", "--help"}},
        {{"--max-concurrent-streams", "1"}, {"--max-concurrent-streams", "from 1024"}},
        {{"--slots", "2", "-xy"}, {"no option -x;", "--help"}},
        {{"--help=1"}, {"--help takes no value", "--help"}},
        {{"--redis", "x"}, {"--redis is short for --redis-", " and others"}},
        {{"--slot"}, {"--slot needs a value", "--help"}},
        {{"--redis-urll=x"}, {"no option --redis-urll;", "did you mean --redis-url?"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_command_line line;
        char said[1024] = "";

        cr_assert_not(parse(rows[i].words, &line, said, sizeof said), "row %zu", i);
        for (size_t k = 0; k < 2; k++) {
            cr_assert_not_null(strstr(said, rows[i].says[k]), "row %zu: %s", i, said);
        }
    }
}

/* Whatever is wrong with the words around it. */
Test(options, a_password_is_not_shown)
{
    static const char *const rows[][5] = {
        {"--redis-urll=redis://:pw@h"},
        {"--redis=redis://:pw@h"},
        {"--version=redis://:pw@h"},
        {"--redis-url", "redis://:pw@h", "-xy"},
        {"-redis-url=redis://:pw@h"},
        {"--redis-url", "redis://:pw@h", "--slots"},
        {"--redis-url", "=", "redis://:pw@h"},
        {"--redis-auth", "pw", "--slots", "0"},
        {"--store", "redis", "--redis-auth", "pw"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_command_line line;
        char said[1024] = "";

        cr_assert_not(parse(rows[i], &line, said, sizeof said), "row %zu", i);
        cr_assert_neq(*said, '\0', "row %zu", i);
        cr_assert_null(strstr(said, "pw"), "row %zu: %s", i, said);
    }
}

Test(options, a_bad_variable_is_named)
{
    static const char *const rows[][2] = {
        {"GRPC_PORT", "65536"}, {"QUOTA_MODE", "on"},       {"LOG_LEVEL", "loud"},
        {"WEIR_SLOTS", "many"}, {"LIMIT_LIMIT_HEADER", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_command_line line;
        char said[1024] = "";

        setenv(rows[i][0], rows[i][1], 1);
        cr_assert_not(PARSE(line, said, NULL), "row %zu", i);
        cr_assert_not_null(strstr(said, rows[i][0]), "row %zu: %s", i, said);
        cr_assert_not_null(strstr(said, rows[i][1]), "row %zu: %s", i, said);
        unsetenv(rows[i][0]);
    }
}

Test(options, the_incumbents_stop_mode_has_its_variable)
{
    struct wr_command_line line;
    char said[1024] = "";

    setenv("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "true", 1);
    cr_assert(PARSE(line, said, NULL), "%s", said);
    cr_assert(line.options.stops_when_over);
    cr_assert(PARSE(line, said, "--stop-increment-when-over-limit=false"), "%s", said);
    cr_assert_not(line.options.stops_when_over);
}

Test(options, memory_can_stand_in_for_another_store_only)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert(PARSE(line, said, "--store", "redis", "--redis-url", "127.0.0.1:6379",
                    "--failure-mode", "local"),
              "%s", said);
    cr_assert_eq(line.options.failure_mode, WR_FAILURE_LOCAL);
    setenv("WEIR_FAILURE_MODE", "local", 1);
    cr_assert_not(PARSE(line, said, "--store", "local"));
    cr_assert_not_null(strstr(said, "WEIR_FAILURE_MODE"), "%s", said);
    cr_assert(PARSE(line, said, "--store", "local", "--failure-mode", "deny"), "%s", said);
}

Test(options, a_header_that_is_off_by_default_can_be_turned_off_again)
{
    struct wr_command_line line;
    char said[1024] = "";

    setenv("WEIR_DEGRADED_HEADER", "x-degraded", 1);
    cr_assert(PARSE(line, said, NULL), "%s", said);
    cr_assert_str_eq(line.options.degraded_header, "x-degraded");
    cr_assert(PARSE(line, said, "--degraded-header", ""), "%s", said);
    cr_assert_str_eq(line.options.degraded_header, "");
}

Test(options, the_incumbents_variables_without_effect_are_taken_and_told)
{
    struct wr_command_line line;
    char said[1024] = "";

    setenv("REDIS_POOL_SIZE", "10", 1);
    setenv("NEAR_LIMIT_RATIO", "0.5", 1);
    cr_assert(PARSE(line, said, NULL), "%s", said);
    cr_assert_not_null(strstr(said, "no effect in this version: NEAR_LIMIT_RATIO, REDIS_POOL_SIZE"),
                       "%s", said);
    said[0] = '\0';
    cr_assert(PARSE(line, said, "check"));
    cr_assert_str_eq(said, "", "nothing is without effect that is not meant for it");
}

Test(options, only_a_server_is_held_to_tls)
{
    struct wr_command_line line;
    char said[1024] = "";

    setenv("GRPC_SERVER_USE_TLS", "true", 1);
    cr_assert_not(PARSE(line, said, NULL));
    cr_assert_not_null(strstr(said, "GRPC_SERVER_USE_TLS"), "%s", said);
    said[0] = '\0';
    cr_assert(PARSE(line, said, "--list-options"), "%s", said);
    cr_assert_str_eq(said, "");
}

Test(options, the_incumbents_name_of_the_store_is_known_and_ours_goes_over_it)
{
    struct wr_command_line line;
    char said[1024] = "";

    setenv("BACKEND_TYPE", "redis", 1);
    setenv("REDIS_URL", "localhost:6379", 1);
    cr_assert(PARSE(line, said, NULL), "%s", said);
    cr_assert_eq(line.options.store, WR_STORE_REDIS);
    setenv("WEIR_STORE", "local", 1);
    cr_assert(PARSE(line, said, NULL), "%s", said);
    cr_assert_eq(line.options.store, WR_STORE_LOCAL);
}

Test(options, redis_needs_an_address)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert_not(PARSE(line, said, "--store", "redis"));
    cr_assert_not_null(strstr(said, "--redis-url"), "%s", said);
}

Test(options, only_who_serves_is_held_to_what_serving_needs)
{
    static const char *const commands[] = {"check", "--help", "--version", "--list-options"};
    struct wr_command_line line;
    char said[1024] = "";

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        cr_assert(PARSE(line, said, commands[i], "--store", "redis"), "%s: %s", commands[i], said);
        cr_assert_eq(line.options.store, WR_STORE_REDIS);
        cr_assert(PARSE(line, said, commands[i], "--redis-url", "localhost"));
        cr_assert_str_eq(said, "", "%s: nothing is unused that is not meant for it", commands[i]);
    }
    cr_assert(PARSE(line, said, "--redis-url", "localhost"));
    cr_assert_not_null(strstr(said, "warning: without --store redis"), "%s", said);
}

Test(options, secrets_are_not_listed)
{
    struct wr_command_line line;
    char said[1024] = "", list[32768] = "";

    setenv("REDIS_AUTH", "open-sesame", 1);
    cr_assert(PARSE(line, said, "--redis-url", "redis://:swordfish@localhost"), "%s", said);

    FILE *const out = fmemopen(list, sizeof list, "w");

    wr_options_print_list(&line.options, out);
    fclose(out);
    cr_assert_null(strstr(list, "open-sesame"));
    cr_assert_null(strstr(list, "swordfish"));
    cr_assert_not_null(strstr(list, "(given, not shown)"));
}

Test(options, help_and_version_have_short_names)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert(PARSE(line, said, "-h"), "%s", said);
    cr_assert_eq(line.command, WR_COMMAND_HELP);
    cr_assert(PARSE(line, said, "-v"), "%s", said);
    cr_assert_eq(line.command, WR_COMMAND_VERSION);
}

Test(options, a_misspelt_variable_is_told_and_others_are_not)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert_eq(setenv("WEIR_WORKER", "4", 1), 0);
    cr_assert_eq(setenv("WEIR_PORT", "tcp://10.0.0.1:8081", 1), 0);
    cr_assert(PARSE(line, said, NULL));
    cr_assert_not_null(strstr(said, "WEIR_WORKER; did you mean WEIR_WORKERS?"), "%s", said);
    cr_assert_null(strstr(said, "WEIR_PORT"), "Kubernetes sets it");
}

Test(options, memory_may_be_left_to_the_machine)
{
    struct wr_command_line line;
    char said[1024] = "";

    cr_assert(PARSE(line, said, "--max-memory-bytes", "0"), "%s", said);
    cr_assert(PARSE(line, said, "--max-memory-bytes", "67108864"), "%s", said);
}

Test(options, help_and_list_name_every_option)
{
    static const char *const names[] = {"--rules",        "--grpc-listen", "--workers",
                                        "--store",        "--log-level",   "--max-counters",
                                        "--failure-mode", "--port-file"};
    struct wr_command_line line;
    char said[1024] = "", help[32768] = "", list[32768] = "";

    cr_assert(PARSE(line, said, "--help"), "%s", said);
    cr_assert_eq(line.command, WR_COMMAND_HELP);

    FILE *out = fmemopen(help, sizeof help, "w");

    wr_options_print_help(out);
    fclose(out);
    out = fmemopen(list, sizeof list, "w");
    wr_options_print_list(&line.options, out);
    fclose(out);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cr_assert_not_null(strstr(help, names[i]), "help lacks %s", names[i]);
        cr_assert_not_null(strstr(list, names[i]), "list lacks %s", names[i]);
    }
}
