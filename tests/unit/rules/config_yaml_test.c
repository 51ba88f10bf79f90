/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_yaml.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rules/texts.h"

/* A text, and the start of what is said about it; "" when it must be accepted without a word. */
struct row {
    const char *text, *notes;
};

static void assert_begins(const char *notes, const char *want, const char *text)
{
    if (want[0] == '\0') {
        cr_assert_str_eq(notes, "", "%s\n%s", text, notes);
    } else {
        cr_assert_eq(strncmp(notes, want, strlen(want)), 0, "%s\n%s", text, notes);
    }
}

static const struct row rows[] = {
    {"domain: d\n", ""},
    {"---\ndomain: d\n...\n", ""},
    {"\xef\xbb\xbf"
     "domain: d\r\ndescriptors: []\r\n",
     ""},
    {"%YAML 1.1\n---\ndomain: d\n", ""},
    {"{\"domain\": \"d\", \"descriptors\": [{\"key\": \"a\"}]}", ""},
    {"domain: >-\n  d\n", ""},
    {"", "f.yaml:1:1: error: the file is empty"},
    {"# nothing here\n", "f.yaml:1:1: error: the file is empty"},
    {"---\n", "f.yaml:2:1: error: the file is empty"},
    {"domain: d\n---\ndomain: e\n", "f.yaml:2:1: error: a second document"},
    {"domain: d\n---\n[\n", "f.yaml:2:1: error: a second document"},
    {"---\n---\ndomain: d\n", "f.yaml:2:1: error: a second document"},
    {"%YAML 1.2\n---\ndomain: d\n", "f.yaml:1:1: error: YAML 1.2 is asked for"},
    {"domain: d\ndescriptors: [{key: a}\n", "f.yaml:3:1: error: not readable as YAML"},
    {"domain: \"d\n", "f.yaml:2:1: error: not readable as YAML"},
    {"domain: d: e\n", "f.yaml:1:10: error: not readable as YAML"},
    {"domain: a\x01"
     "b\n",
     "f.yaml:1:10: error: not readable as YAML"},
    {"domain: d\nx: \xff\n", "f.yaml:2:4: error: not readable as YAML"},
    {"domain: *x\n", "f.yaml:1:9: error: alias *x refers to an unknown anchor"},
    {"domain: d\ndescriptors: &x\n  - {key: a, descriptors: *x}\n",
     "f.yaml:3:27: error: alias *x stands within its own anchor"},
};

Test(config_yaml, accepts_and_refuses_with_the_place)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *const notes = notes_of(rows[i].text);

        assert_begins(notes, rows[i].notes, rows[i].text);
        free(notes);
    }
}

Test(config_yaml, a_tab_is_named)
{
    char *const notes = notes_of("domain: d\ndescriptors:\n\t- key: a\n");

    assert_begins(notes, "f.yaml:3:1: error: not readable as YAML", notes);
    cr_assert_not_null(strstr(notes, "not with tabs"), "%s", notes);
    free(notes);
}

Test(config_yaml, a_star_without_quotes_is_named)
{
    static const char *const texts[] = {
        "domain: d\ndescriptors: [{key: k, value: *}]\n",
        "domain: d\ndescriptors:\n- key: k\n  value: *.iso\n",
        "domain: d\ndescriptors: [{key: k, value: *iso}]\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *const notes = notes_of(texts[i]);

        cr_assert_not_null(strstr(notes, "quote a text that begins with `*`"), "%s", notes);
        free(notes);
    }
}

Test(config_yaml, a_blank_that_is_missing_behind_a_colon_is_named)
{
    static const struct {
        const char *text, *hint; /* NULL: none of that kind */
    } all[] = {
        {"domain:edge\ndescriptors: []\n", "behind the colon of `domain:` in line 1\n"},
        {"domain:edge\n\n# the rules\ndescriptors: []\n", "`domain:` in line 1\n"},
        {"domain: d\ndescriptors:\n  - key:user\n    rate_limit: {}\n", "`key:` in line 3\n"},
        {"domain: d\ndescriptors:\n  - key: user\n    value:ann\n    rate_limit: {}\n",
         "`value:` in line 4\n"},
        {"domain: d\ndescriptors:\n- key: a\n  rate_limit:\n    unit:hour\n"
         "    requests_per_unit: 3\n",
         "`unit:` in line 5\n"},
        {"domain: d\ndescriptors:\n- key: a\n  rate_limit:\n    unit: hour\n"
         "    requests_per_unit:3\n",
         "`requests_per_unit:` in line 6\n"},
        {"domain: d\ndescriptors:\n- key: a\n  value: x\n   rate_limit: {}\n", NULL},
        {"domain: d\nimage:latest\ndescriptors: []\n", NULL},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char *const notes = notes_of(all[i].text);

        cr_assert_not_null(strstr(notes, "not readable as YAML"), "%s\n%s", all[i].text, notes);
        if (all[i].hint != NULL) {
            cr_assert_not_null(strstr(notes, all[i].hint), "%s\n%s", all[i].text, notes);
        } else {
            cr_assert_null(strstr(notes, "blank"), "%s\n%s", all[i].text, notes);
        }
        free(notes);
    }
}

Test(config_yaml, what_is_not_closed_is_told_by_where_it_begins)
{
    char *const notes = notes_of("domain: d\ndescriptors: [\n  {key: a}\n");

    assert_begins(notes, "f.yaml:4:1: error: not readable as YAML", notes);
    cr_assert_not_null(strstr(notes, "that begins in line 2"), "%s", notes);
    free(notes);
}

Test(config_yaml, utf_16_with_a_byte_order_mark_is_read)
{
    static const char text[] = "\xff\xfe"
                               "d\0o\0m\0a\0i\0n\0:\0 \0x\0";
    static const struct wr_str want = WR_STR("x");
    struct texts texts;

    texts_init(&texts);
    texts_add_bytes(&texts, "f.yaml", (struct wr_str){.ptr = text, .len = sizeof text - 1});
    cr_assert_str_eq(texts_notes(&texts), "");
    cr_assert(wr_str_equal(texts.drafts[0].domain, want));
    texts_fini(&texts);
}

Test(config_yaml, a_nul_byte_is_refused)
{
    struct texts texts;

    texts_init(&texts);
    texts_add_bytes(&texts, "f.yaml", (struct wr_str){.ptr = "domain: d\n\0", .len = 11});
    texts_add_bytes(&texts, "g.yaml", (struct wr_str){.ptr = "domain: d\0e\n", .len = 12});
    cr_assert(texts.drafts[0].is_refused);
    cr_assert(texts.drafts[1].is_refused);
    cr_assert_eq(texts.diag.n_errors, 2u);
    texts_fini(&texts);
}

Test(config_yaml, a_refused_text_still_has_its_domain)
{
    static const struct wr_str want = WR_STR("d");
    const char *const all[] = {
        "domain: d\ndescriptors: [\n",
        "domain: d\n---\nx: 1\n",
        "domain: d\ndescriptors: [{key: 1.5}]\n",
        "{domain: d, descriptors: *nowhere}",
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct texts texts;

        texts_init(&texts);
        texts_add(&texts, "f.yaml", all[i]);
        cr_assert(texts.drafts[0].is_refused, "%s", all[i]);
        cr_assert(wr_str_equal(texts.drafts[0].domain, want), "%s", all[i]);
        texts_fini(&texts);
    }
}

Test(config_yaml, anchors_stand_for_what_they_name_last)
{
    struct wr_rules *const rules =
        rules_of("domain: d\n"
                 "descriptors:\n"
                 "  - {key: a, rate_limit: &x {unit: hour, requests_per_unit: 5}}\n"
                 "  - {key: b, rate_limit: *x}\n"
                 "  - {key: c, rate_limit: &x {unit: day, requests_per_unit: 6}}\n"
                 "  - {key: d, rate_limit: *x}\n");
    const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));
    const struct wr_entry b = entry_of("b", ""), d = entry_of("d", "");

    cr_assert_eq(wr_domain_match(domain, &b, 1)->rules->limit.requests, 5u);
    cr_assert_eq(wr_domain_match(domain, &d, 1)->rules->limit.requests, 6u);
    wr_rules_release(rules);
}

/* Parses `text` under `bounds` and compares the start of what is said. */
static void assert_bound(struct wr_config_bounds bounds, const char *text, const char *want)
{
    struct texts texts;

    texts_init(&texts);
    texts.bounds = bounds;
    texts_add(&texts, "f.yaml", text);
    assert_begins(texts_notes(&texts), want, text);
    cr_assert_eq(texts.drafts[0].is_refused, want[0] != '\0');
    texts_fini(&texts);
}

Test(config_yaml, the_bounds_are_exact)
{
    const char *const ten_bytes = "domain: d\n";
    const char *const five_nodes = "domain: d\ndescriptors: []\n";
    const char *const two_levels = "domain: d\ndescriptors: [{key: a, descriptors: [{key: b}]}]\n";
    struct wr_config_bounds bounds = texts_bounds;

    bounds.max_file_bytes = 10;
    assert_bound(bounds, ten_bytes, "");
    bounds.max_file_bytes = 9;
    assert_bound(bounds, ten_bytes, "f.yaml: error: larger than 9 bytes");
    bounds = texts_bounds;
    bounds.max_nodes = 5;
    assert_bound(bounds, five_nodes, "");
    bounds.max_nodes = 4;
    assert_bound(bounds, five_nodes, "f.yaml:2:14: error: more than 4 YAML nodes");
    bounds = texts_bounds;
    bounds.max_depth = 2;
    assert_bound(bounds, two_levels, "");
    bounds.max_depth = 1;
    assert_bound(bounds, two_levels, "f.yaml:2:37: error: `descriptors` are nested deeper than 1");
}

/* A few levels too many show when rules are made of the tree, and many while it is made. */
Test(config_yaml, rules_that_nest_too_deep_draw_one_message_however_deep_they_are)
{
    static const char *const said = ": error: `descriptors` are nested deeper than 2 levels";
    static const size_t depths[] = {3, 4, 6, 7, 8, 30};

    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        char text[4096];
        size_t len = (size_t) snprintf(text, sizeof text, "domain: d\n");
        struct texts texts;

        for (size_t k = 0; k < depths[i]; k++) {
            const int indent = (int) (2 * k);

            len += (size_t) snprintf(text + len, sizeof text - len,
                                     "%*sdescriptors:\n%*s- key: k\n", indent, "", indent, "");
        }
        texts_init(&texts);
        texts.bounds.max_depth = 2;
        texts_add(&texts, "f.yaml", text);
        cr_assert_not_null(strstr(texts_notes(&texts), said), "%zu: %s", depths[i],
                           texts_notes(&texts));
        cr_assert_eq(texts.diag.n_errors, 1u, "%zu", depths[i]);
        texts_fini(&texts);
    }
}

Test(config_yaml, aliases_count_for_all_that_they_stand_for)
{
    const char *const bomb = "domain: d\n"
                             "metadata:\n"
                             "  a: &a [x,x,x,x,x,x,x,x,x,x]\n"
                             "  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                             "  c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                             "  d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                             "  e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";
    struct wr_config_bounds bounds = texts_bounds;

    assert_bound(bounds, bomb, "f.yaml:7:");
    bounds.max_file_bytes = 2000;
    assert_bound(bounds, bomb, "f.yaml:6:");
    bounds.max_depth = 1;
    assert_bound(
        bounds, "a: &a [[[[[[[[x]]]]]]]]\nb: [[[[*a]]]]\n",
        "f.yaml:2:8: error: lists and maps are nested deeper than rules of 1 levels can be");
}

/* A hundred thousand levels neither end the stack nor take long. */
Test(config_yaml, nesting_without_end_is_refused_at_the_bound)
{
    const size_t len = 100000;
    char *const text = malloc(len + 1);

    cr_assert_not_null(text);
    memset(text, '[', len);
    text[len] = '\0';
    assert_bound(texts_bounds, text, "f.yaml:1:");
    for (size_t i = 0; i + 1 < len; i += 2) {
        memcpy(text + i, "- ", 2);
    }
    assert_bound(texts_bounds, text, "f.yaml:1:");
    free(text);
}
