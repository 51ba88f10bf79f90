/* SPDX-License-Identifier: Apache-2.0 */
#include "option_agreement.h"

#include <criterion/criterion.h>
#include <string.h>

#define WORDS_MAX 16

/* The options that `flags`, parted by blanks, come to; nothing is asked of them here. */
static struct wr_options options_of(const char *flags)
{
    static char text[512];
    char *argv[WORDS_MAX + 1];
    int argc = 0;
    struct wr_command_line line;

    (void) snprintf(text, sizeof text, "weir check %s", flags);
    for (char *rest = text; (argv[argc] = strtok_r(rest, " ", &rest)) != NULL; argc++) {
        cr_assert_lt(argc, WORDS_MAX);
    }
    cr_assert(wr_command_line_parse(argc, argv, stderr, &line), "%s", flags);
    return line.options;
}

#define REDIS "--store redis --redis-url a "

Test(option_agreement, what_contradicts_itself_is_told_with_what_is_needed)
{
    static const struct {
        const char *flags;
        const char *said; /* NULL: they agree */
    } rows[] = {
        {"", NULL},
        {REDIS, NULL},
        {"--store redis", "needs --redis-url (REDIS_URL)"},
        {REDIS "--failure-mode local", NULL},
        {"--failure-mode local", "means nothing with --store local"},
        {REDIS "--redis-per-second", "needs --redis-per-second-url"},
        {REDIS "--redis-per-second --redis-per-second-url b", NULL},
        {REDIS "--redis-key-hash", "needs --redis-key-secret-file"},
        {REDIS "--redis-key-hash --redis-key-secret-file f", NULL},
        {REDIS "--redis-key-hash --redis-key-secret-file f --redis-keys reference",
         "cannot both be"},
        {"--redis-per-second --redis-key-hash", NULL}, /* there is no Redis to have them */
        {"--max-memory-bytes 1", "would cut off everybody"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_options options = options_of(rows[i].flags);
        char said[1024] = "";
        FILE *const err = fmemopen(said, sizeof said, "w");
        const bool agree = wr_options_agree(&options, err);

        fclose(err);
        cr_assert_eq(agree, rows[i].said == NULL, "%s: %s", rows[i].flags, said);
        if (agree) {
            cr_assert_str_eq(said, "", "%s", rows[i].flags);
        } else {
            cr_assert_not_null(strstr(said, rows[i].said), "%s: %s", rows[i].flags, said);
        }
    }
}

#define WITHOUT_REDIS                                                                              \
    "weir: warning: without --store redis (WEIR_STORE, BACKEND_TYPE) counters live in memory, "    \
    "and these have no effect: "

#define WITHOUT_SENTINELS                                                                          \
    "weir: warning: without sentinels, which --redis-type (REDIS_TYPE) or "                        \
    "--redis-per-second-type (REDIS_PERSECOND_TYPE) asks for, these have no effect: "

Test(option_agreement, what_has_no_effect_is_told_by_what_it_lacks)
{
    static const struct {
        const char *flags, *said;
    } rows[] = {
        {"", ""},
        {"--redis-url a", WITHOUT_REDIS "--redis-url (REDIS_URL)\n"},
        {"--redis-timeout 5ms --redis-keys readable --over-limit-cache-bytes 0", ""},
        {"--redis-timeout 6ms --redis-keys reference --over-limit-cache-bytes 64",
         WITHOUT_REDIS "--redis-keys (WEIR_REDIS_KEYS), --over-limit-cache-bytes "
                       "(LOCAL_CACHE_SIZE_IN_BYTES), --redis-timeout (WEIR_REDIS_TIMEOUT)\n"},
        {"--redis-sentinel-tls --redis-per-second --redis-per-second-url b",
         WITHOUT_REDIS "--redis-sentinel-tls (WEIR_REDIS_SENTINEL_TLS), --redis-per-second "
                       "(REDIS_PERSECOND), --redis-per-second-url (REDIS_PERSECOND_URL)\n"},
        {REDIS "--redis-timeout 6ms --over-limit-cache-bytes 64 --replicas 3", ""},
        {REDIS "--redis-per-second-url b --redis-sentinel-tls --redis-key-secret-file f",
         "weir: warning: without --redis-key-hash (WEIR_REDIS_KEY_HASH) these have no effect: "
         "--redis-key-secret-file (WEIR_REDIS_KEY_SECRET_FILE)\n"
         "weir: warning: without --redis-per-second (REDIS_PERSECOND) these have no effect: "
         "--redis-per-second-url (REDIS_PERSECOND_URL)\n" WITHOUT_SENTINELS
         "--redis-sentinel-tls (WEIR_REDIS_SENTINEL_TLS)\n"},
        {REDIS "--redis-sentinel-auth x --redis-per-second --redis-per-second-url b "
               "--redis-per-second-type sentinel",
         "weir: warning: without --redis-type sentinel (REDIS_TYPE) these have no effect: "
         "--redis-sentinel-auth (REDIS_SENTINEL_AUTH)\n"},
        {REDIS "--redis-type sentinel --redis-sentinel-auth x --redis-per-second "
               "--redis-per-second-url b --redis-per-second-sentinel-auth y",
         "weir: warning: without --redis-per-second-type sentinel (REDIS_PERSECOND_TYPE) these "
         "have no effect: --redis-per-second-sentinel-auth (REDIS_PERSECOND_SENTINEL_AUTH)\n"},
        {REDIS "--redis-per-second-sentinel-auth y",
         "weir: warning: without --redis-per-second (REDIS_PERSECOND) these have no effect: "
         "--redis-per-second-sentinel-auth (REDIS_PERSECOND_SENTINEL_AUTH)\n"},
        {REDIS "--redis-type sentinel --redis-sentinel-auth x", ""},
        {REDIS "--redis-per-second --redis-per-second-url b --redis-per-second-type sentinel "
               "--redis-per-second-sentinel-auth y",
         ""},
        {REDIS "--redis-type sentinel --redis-sentinel-tls", ""},
        {REDIS "--redis-per-second --redis-per-second-url b --redis-per-second-type sentinel "
               "--redis-sentinel-tls",
         ""},
        {REDIS "--redis-key-hash --redis-key-secret-file f", ""},
    };
    const struct wr_options defaults = options_of("");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_options options = options_of(rows[i].flags);
        char said[2048] = "";
        FILE *const err = fmemopen(said, sizeof said, "w");

        wr_options_warn_of_unused(&options, &defaults, err);
        fclose(err);
        cr_assert_str_eq(said, rows[i].said, "%s: %s", rows[i].flags, said);
    }
}

#define MOVING REDIS "--redis-keys reference "

/* Where what is to be charged as one lies apart, and whether an option loses its meaning by it. */
Test(option_agreement, tells_where_counters_have_no_common_slot)
{
    static const struct {
        const char *flags;
        bool is_apart, is_warned_of;
    } rows[] = {
        {"--redis-type cluster --redis-keys reference --stop-increment-when-over-limit", false,
         false},
        {REDIS "--redis-type cluster --stop-increment-when-over-limit", false, false},
        {MOVING "--stop-increment-when-over-limit", false, false},
        {MOVING "--redis-type cluster", true, false},
        {MOVING "--redis-type cluster --stop-increment-when-over-limit", true, true},
        {MOVING "--redis-per-second-type cluster", false, false},
        {MOVING "--redis-per-second --redis-per-second-url b --redis-per-second-type cluster "
                "--stop-increment-when-over-limit",
         true, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_options options = options_of(rows[i].flags);
        char said[1024] = "";
        FILE *const err = fmemopen(said, sizeof said, "w");

        wr_options_warn_of_parts(&options, err);
        fclose(err);
        cr_assert_eq(wr_options_keep_groups_apart(&options), rows[i].is_apart, "%s", rows[i].flags);
        cr_assert_eq(strstr(said, "warning: --stop-increment-when-over-limit ") != NULL,
                     rows[i].is_warned_of, "%s: %s", rows[i].flags, said);
    }
}
