/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_text.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "tests/unit/rules/texts.h"

static struct wr_config_node plain(const char *text)
{
    return (struct wr_config_node){
        .line = 3, .column = 5, .text = wr_str_of(text), .is_plain = true};
}

static struct wr_config_node quoted(const char *text)
{
    struct wr_config_node node = plain(text);

    node.is_plain = false;
    return node;
}

Test(config_text, texts_keep_their_spelling_and_null_is_empty)
{
    static const char *const rows[][2] = {
        {"gold", "gold"}, {"404", "404"},
        {"007", "007"},   {"0x1F", "0x1F"},
        {"true", "true"}, {"1_000", "1_000"},
        {"~", ""},        {"", ""},
        {"null", ""},     {"2024-05-06", "2024-05-06"},
    };
    struct texts texts;

    texts_init(&texts);

    struct wr_config_reader reader = texts_reader(&texts);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node = plain(rows[i][0]);
        struct wr_str got = WR_STR("untouched");

        cr_assert(wr_config_text(&reader, &node, WR_KEY_VALUE, NULL, &got), "%s", rows[i][0]);
        cr_assert(wr_str_equal(got, wr_str_of(rows[i][1])), "%s", rows[i][0]);
    }
    cr_assert_eq(reader.n_errors + reader.n_warnings, 0u);
    texts_fini(&texts);
}

Test(config_text, what_is_no_text_is_refused_with_what_to_do)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"1.5", "quote it if it is meant as a text: \"1.5\""},
        {"1e3", "quote it if it is meant as a text: \"1e3\""},
        {"08", "quote it if it is meant as a text: \"08\""},
        {"18446744073709551615", "quote it"},
    };
    struct wr_config_node list = {.kind = WR_CONFIG_LIST};
    struct texts texts;

    texts_init(&texts);

    struct wr_config_reader reader = texts_reader(&texts);
    struct wr_str got;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node = plain(rows[i].text);

        cr_assert_not(wr_config_text(&reader, &node, WR_KEY_VALUE, NULL, &got));
        cr_assert_eq(reader.n_errors, i + 1);
        cr_assert_not_null(strstr(texts_notes(&texts), rows[i].part), "%s", rows[i].text);
    }
    cr_assert_not(wr_config_text(&reader, &list, WR_KEY_VALUE, NULL, &got));
    list.kind = WR_CONFIG_MAP;
    cr_assert_not(wr_config_text(&reader, &list, WR_KEY_VALUE, NULL, &got));
    texts_fini(&texts);
}

Test(config_text, switches_are_words_without_quotes)
{
    struct texts texts;

    texts_init(&texts);

    struct wr_config_reader reader = texts_reader(&texts);
    const struct wr_config_node on = plain("yes"), off = plain("Off"), nothing = plain("~"),
                                text = quoted("true"), number = plain("1");
    bool got = false;

    cr_assert(wr_config_switch(&reader, &on, WR_KEY_UNLIMITED, NULL, &got) && got);
    cr_assert(wr_config_switch(&reader, &off, WR_KEY_UNLIMITED, NULL, &got) && !got);
    got = true;
    cr_assert(wr_config_switch(&reader, &nothing, WR_KEY_UNLIMITED, NULL, &got) && !got);
    cr_assert_not(wr_config_switch(&reader, &text, WR_KEY_UNLIMITED, NULL, &got));
    cr_assert_not(wr_config_switch(&reader, &number, WR_KEY_UNLIMITED, NULL, &got));
    cr_assert_eq(reader.n_errors, 2u);
    cr_assert_not_null(strstr(texts_notes(&texts),
                              "must be true or false, not the text \"true\"; without quotes"));
    cr_assert_not_null(strstr(texts_notes(&texts), "must be true or false, not 1\n"));
    texts_fini(&texts);
}

Test(config_text, numbers_are_whole_and_of_32_bits)
{
    static const struct {
        const char *text;
        bool is_good, draws_warning;
        uint32_t number;
    } rows[] = {
        {"0", true, false, 0},           {"4294967295", true, false, UINT32_MAX},
        {"~", true, false, 0},           {"0x10", true, true, 16},
        {"010", true, true, 8},          {"1_000", true, true, 1000},
        {"+7", true, true, 7},           {"0b101", true, true, 5},
        {"4294967296", false, false, 0}, {"18446744073709551615", false, false, 0},
        {"-1", false, false, 0},         {"3.0", false, false, 0},
        {".inf", false, false, 0},       {"many", false, false, 0},
        {"true", false, false, 0},       {"1:30", false, false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node = plain(rows[i].text);
        struct texts texts;

        texts_init(&texts);

        struct wr_config_reader reader = texts_reader(&texts);
        uint32_t got = 99;
        const bool is_good = wr_config_number(&reader, &node, WR_KEY_REQUESTS_PER_UNIT, NULL, &got);

        cr_assert_eq(is_good, rows[i].is_good, "%s", rows[i].text);
        cr_assert_eq(got, is_good ? rows[i].number : 99, "%s: %" PRIu32, rows[i].text, got);
        cr_assert_eq(reader.n_warnings, rows[i].draws_warning ? 1u : 0u, "%s", rows[i].text);
        cr_assert_eq(reader.n_errors, is_good ? 0u : 1u, "%s", rows[i].text);
        if (!is_good) {
            cr_assert_not_null(strstr(texts_notes(&texts), "4294967295"));
        }
        texts_fini(&texts);
    }
}

Test(config_text, a_number_that_is_none_is_told_what_the_key_takes)
{
    static const char text[] = "without quotes and without a tag";
    static const struct {
        const char *text;
        bool is_quoted;
        enum wr_config_key key;
        const char *message;
        const char *hint; /* empty: none */
    } rows[] = {
        {"3", true, WR_KEY_REQUESTS_PER_UNIT, "from 0 to 4294967295, not the text \"3\"", text},
        {"", true, WR_KEY_REQUESTS_PER_UNIT, "from 0 to 4294967295, not the text \"\"", text},
        {"-1", false, WR_KEY_REQUESTS_PER_UNIT, "from 0 to 4294967295, not -1",
         "`unlimited: true` is a limit that refuses nothing"},
        {"4294967296", false, WR_KEY_REQUESTS_PER_UNIT, "from 0 to 4294967295, not 4294967296",
         "`unlimited: true` is a limit that refuses nothing"},
        {"1e3", false, WR_KEY_REQUESTS_PER_UNIT, "from 0 to 4294967295, not 1e3", ""},
        {"ten", false, WR_KEY_REQUESTS_PER_UNIT, "from 0 to 4294967295, not ten", ""},
        {"-1", false, WR_KEY_UNIT_MULTIPLIER, "from 1 to 4294967295, not -1", ""},
        {"1.5", false, WR_KEY_BURST, "from 1 to 4294967295, not 1.5", ""},
        {"many", false, WR_KEY_BUCKETS, "from 1 to 1000, not many", ""},
        {"/24", false, WR_KEY_IPV4, "from 0 to 32, not /24", ""},
        {"64", true, WR_KEY_IPV6, "from 0 to 128, not the text \"64\"", text},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node =
            rows[i].is_quoted ? quoted(rows[i].text) : plain(rows[i].text);
        struct texts texts;
        char want[256];

        texts_init(&texts);

        struct wr_config_reader reader = texts_reader(&texts);
        uint32_t got;

        (void) snprintf(want, sizeof want, "error: `%s` must be a whole number %s%s%s\n",
                        wr_config_key_name(rows[i].key), rows[i].message,
                        *rows[i].hint == '\0' ? "" : "; ", rows[i].hint);
        cr_assert_not(wr_config_number(&reader, &node, rows[i].key, NULL, &got), "row %zu", i);
        cr_assert_not_null(strstr(texts_notes(&texts), want), "row %zu: %s", i,
                           texts_notes(&texts));
        texts_fini(&texts);
    }
}

Test(config_text, a_count_is_one_of_its_words_or_nothing)
{
    static const struct {
        const char *text;
        bool is_good, has_count;
        enum wr_count count;
    } rows[] = {
        {"all", true, true, WR_COUNT_ALL},
        {"admitted", true, true, WR_COUNT_ADMITTED},
        {"all_or_nothing", true, true, WR_COUNT_ALL_OR_NOTHING},
        {"~", true, false, WR_COUNT_ALL},
        {"ALL", false, false, WR_COUNT_ALL},
        {"true", false, false, WR_COUNT_ALL},
        {"7", false, false, WR_COUNT_ALL},
        {"1.5", false, false, WR_COUNT_ALL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node = plain(rows[i].text);
        struct wr_policy policy = {0};
        struct texts texts;

        texts_init(&texts);

        struct wr_config_reader reader = texts_reader(&texts);

        cr_assert_eq(wr_config_count(&reader, &node, NULL, &policy), rows[i].is_good, "%s",
                     rows[i].text);
        cr_assert_eq(policy.has_count, rows[i].has_count, "%s", rows[i].text);
        cr_assert_eq(policy.count, rows[i].count, "%s", rows[i].text);
        cr_assert_eq(reader.n_errors, rows[i].is_good ? 0u : 1u, "%s", rows[i].text);
        texts_fini(&texts);
    }
}

Test(config_text, a_failure_mode_is_one_of_its_words_or_nothing)
{
    static const struct {
        const char *text;
        bool is_good, has_mode;
        enum wr_failure_mode mode;
    } rows[] = {
        {"error", true, true, WR_FAILURE_ERROR},  {"allow", true, true, WR_FAILURE_ALLOW},
        {"deny", true, true, WR_FAILURE_DENY},    {"local", true, true, WR_FAILURE_LOCAL},
        {"", true, false, WR_FAILURE_ERROR},      {"Deny", false, false, WR_FAILURE_ERROR},
        {"open", false, false, WR_FAILURE_ERROR},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node = plain(rows[i].text);
        struct wr_policy policy = {0};
        struct texts texts;

        texts_init(&texts);

        struct wr_config_reader reader = texts_reader(&texts);

        cr_assert_eq(wr_config_failure_mode(&reader, &node, NULL, &policy), rows[i].is_good, "%s",
                     rows[i].text);
        cr_assert_eq(policy.has_failure_mode, rows[i].has_mode, "%s", rows[i].text);
        cr_assert_eq(policy.failure_mode, rows[i].mode, "%s", rows[i].text);
        cr_assert_eq(reader.n_errors, rows[i].is_good ? 0u : 1u, "%s", rows[i].text);
        texts_fini(&texts);
    }
}

Test(config_text, null_takes_a_word_away_that_was_there)
{
    const struct wr_config_node node = plain("~");
    struct wr_policy policy = {.has_count = true, .has_failure_mode = true};
    struct texts texts;

    texts_init(&texts);

    struct wr_config_reader reader = texts_reader(&texts);

    cr_assert(wr_config_count(&reader, &node, NULL, &policy));
    cr_assert(wr_config_failure_mode(&reader, &node, NULL, &policy));
    cr_assert_not(policy.has_count || policy.has_failure_mode);
    texts_fini(&texts);
}

Test(config_text, a_word_is_taken_by_its_letters_with_its_place)
{
    static const struct {
        const char *text, *word;
        bool is_quoted, is_good;
    } rows[] = {
        {"0.7", "0.7", false, true}, {"0.70", "0.70", true, true},  {"100ms", "100ms", false, true},
        {"1e3", "1e3", false, true}, {"true", "true", false, true}, {"~", "", false, true},
        {"", "", false, true},       {"", "", true, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node =
            rows[i].is_quoted ? quoted(rows[i].text) : plain(rows[i].text);
        struct wr_draft_text word = {0};
        struct texts texts;

        texts_init(&texts);

        struct wr_config_reader reader = texts_reader(&texts);

        cr_assert_eq(wr_config_word(&reader, &node, WR_KEY_HEADROOM, NULL, &word), rows[i].is_good,
                     "row %zu", i);
        cr_assert(wr_str_equal(word.text, wr_str_of(rows[i].word)), "row %zu", i);
        cr_assert_eq(word.place.line, word.text.len > 0 ? 3u : 0u, "row %zu", i);
        cr_assert_eq(reader.n_errors, rows[i].is_good ? 0u : 1u, "row %zu", i);
        texts_fini(&texts);
    }
}

Test(config_text, a_number_with_its_place_is_set_unless_it_is_null)
{
    static const struct {
        const char *text;
        bool is_good, is_set;
        uint32_t number;
    } rows[] = {
        {"7", true, true, 7}, {"0", true, true, 0}, {"~", true, false, 0}, {"x", false, false, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_config_node node = plain(rows[i].text);
        struct wr_draft_number number = {0};
        struct texts texts;

        texts_init(&texts);

        struct wr_config_reader reader = texts_reader(&texts);

        cr_assert_eq(wr_config_placed_number(&reader, &node, WR_KEY_BURST, NULL, &number),
                     rows[i].is_good, "row %zu", i);
        cr_assert_eq(number.is_set, rows[i].is_set, "row %zu", i);
        cr_assert_eq(number.number, rows[i].number, "row %zu", i);
        cr_assert_eq(number.place.line, rows[i].is_good ? 3u : 0u, "row %zu", i);
        texts_fini(&texts);
    }
}
