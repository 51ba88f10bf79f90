/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/failing_malloc.h"

static const struct wr_str no_path = WR_STR("");

static struct wr_place at(const char *file, size_t line, size_t column)
{
    return (struct wr_place){.file = wr_str_of(file), .line = line, .column = column};
}

static void assert_printed(struct wr_diag *diag, const char *want)
{
    char *text = NULL;
    size_t len = 0;
    FILE *const out = open_memstream(&text, &len);

    cr_assert_not_null(out);
    wr_diag_print(diag, out);
    cr_assert_eq(fclose(out), 0);
    cr_assert_str_eq(text, want);
    free(text);
}

Test(diag, prints_nothing_when_there_is_nothing)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    assert_printed(&diag, "");
    wr_diag_fini(&diag);
}

Test(diag, prints_as_a_compiler_does)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a.yaml", 3, 7), (struct wr_str) WR_STR("d.key"),
                "write a number", "requests_per_unit is %s", "text");
    wr_diag_add(&diag, WR_SEVERITY_WARNING, at("a.yaml", 9, 1), no_path, NULL, "odd");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("b.yaml", 0, 0), no_path, NULL, "empty");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("", 0, 0), no_path, NULL, "no file");
    assert_printed(&diag,
                   "error: no file\n"
                   "a.yaml:3:7: error: requests_per_unit is text (in d.key); write a number\n"
                   "a.yaml:9:1: warning: odd\n"
                   "b.yaml: error: empty\n");
    cr_assert_eq(diag.n_errors, 3u);
    cr_assert_eq(diag.n_warnings, 1u);
    wr_diag_fini(&diag);
}

Test(diag, puts_a_spot_of_a_message_behind_its_source)
{
    struct wr_spot outer = {.name = "descriptors", .index = 2};
    struct wr_spot inner = {.parent = &outer, .name = "rate_limit", .index = WR_SPOT_SINGLE};
    struct wr_place place = at("resource a", 0, 0);
    struct wr_diag diag;
    char text[64];

    place.spot = &inner;
    wr_place_format(&place, text, sizeof text);
    cr_assert_str_eq(text, "resource a: descriptors[2].rate_limit");
    wr_place_format(&place, text, 15);
    cr_assert_str_eq(text, "resource a: de");
    wr_place_format(&place, text, 5);
    cr_assert_str_eq(text, "reso");
    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, place, no_path, NULL, "odd");
    outer = inner = (struct wr_spot){.name = "gone"};
    assert_printed(&diag, "resource a: descriptors[2].rate_limit: error: odd\n");
    wr_diag_fini(&diag);
}

Test(diag, shows_the_line_of_a_place_whose_file_is_too_long)
{
    static const struct {
        const char *file;
        size_t size;
        const char *wanted;
    } rows[] = {
        {"dir/f.yaml", 16, "dir/f.yaml:12:3"},
        {"dir/f.yaml", 15, "...f.yaml:12:3"},
        {"dir/f.yaml", 10, "...l:12:3"},
        {"dir/f.yaml", 9, "dir:12:3"},
        {"dir/f.yaml", 6, ":12:3"},
        {"dir/f.yaml", 3, ":1"},
        {"", 16, ":12:3"},
        {"aaaa\xc3\xa4/c", 12, ".../c:12:3"},
        {"aaaa\xc3\xa4/c", 13, "...\xc3\xa4/c:12:3"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_place place = at(rows[i].file, 12, 3);
        char text[16];

        wr_place_format(&place, text, rows[i].size);
        cr_assert_str_eq(text, rows[i].wanted, "%zu: %s", i, text);
    }
}

Test(diag, sorts_by_file_line_and_column)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("b", 1, 1), no_path, NULL, "5");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a", 10, 1), no_path, NULL, "4");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a", 9, 12), no_path, NULL, "3");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a", 9, 2), no_path, NULL, "2");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a", 1, 99), no_path, NULL, "1");
    assert_printed(&diag, "a:1:99: error: 1\na:9:2: error: 2\na:9:12: error: 3\na:10:1: error: 4\n"
                          "b:1:1: error: 5\n");
    wr_diag_fini(&diag);
}

Test(diag, counts_what_it_does_not_keep)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 2);
    for (size_t i = 1; i <= 5; i++) {
        wr_diag_add(&diag, i == 5 ? WR_SEVERITY_WARNING : WR_SEVERITY_ERROR, at("a", i, 1), no_path,
                    NULL, "note");
    }
    cr_assert_eq(diag.n_kept, 2u);
    cr_assert_eq(diag.n_errors, 4u);
    cr_assert_eq(diag.n_warnings, 1u);
    assert_printed(&diag, "a:1:1: error: note\na:2:1: error: note\n3 more not shown\n");
    wr_diag_fini(&diag);
}

Test(diag, keeps_errors_behind_warnings)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 2);
    for (size_t i = 1; i <= 7; i++) {
        cr_assert(wr_diag_has_room(&diag, WR_SEVERITY_ERROR) == (i < 7));
        cr_assert(wr_diag_has_room(&diag, WR_SEVERITY_WARNING) == (i < 3));
        wr_diag_add(&diag, i < 5 ? WR_SEVERITY_WARNING : WR_SEVERITY_ERROR, at("a", i, 1), no_path,
                    NULL, "note");
    }
    wr_diag_add(&diag, WR_SEVERITY_WARNING, at("a", 8, 1), no_path, NULL, "note");
    cr_assert_eq(diag.n_kept, 4u);
    assert_printed(&diag, "a:1:1: warning: note\na:2:1: warning: note\na:5:1: error: note\n"
                          "a:6:1: error: note\n4 more not shown\n");
    wr_diag_fini(&diag);
}

Test(diag, copies_its_texts)
{
    char file[] = "file", path[] = "path", hint[] = "hint";
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at(file, 1, 1), wr_str_of(path), hint, "text");
    memset(file, 'x', 4);
    memset(path, 'x', 4);
    memset(hint, 'x', 4);
    assert_printed(&diag, "file:1:1: error: text (in path); hint\n");
    wr_diag_fini(&diag);
}

Test(diag, control_characters_become_question_marks_and_other_bytes_stay)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a\nb", 1, 1), (struct wr_str) WR_STR("k\0\x1b[0m"),
                NULL, "tab\there, \x7f, \xc3\xa9");
    assert_printed(&diag, "a?b:1:1: error: tab?here, ?, \xc3\xa9 (in k??[0m)\n");
    wr_diag_fini(&diag);
}

Test(diag, what_acts_on_a_terminal_and_what_is_no_text_becomes_question_marks)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a\xff", 1, 1),
                (struct wr_str) WR_STR("k\xe2\x80\xae"), "\xe2\x81\xa6",
                "\xc2\x9b"
                "31m");
    assert_printed(&diag, "a?:1:1: error: ?31m (in k?); ?\n");
    wr_diag_fini(&diag);
}

Test(diag, a_line_is_cut_to_its_size_and_always_terminated)
{
    const struct wr_note note = {
        .severity = WR_SEVERITY_ERROR,
        .text = WR_STR("a text of some length"),
    };
    char line[64];

    for (size_t size = 1; size <= sizeof line; size++) {
        memset(line, 'x', sizeof line);
        wr_note_format(&note, line, size);
        cr_assert_lt(strlen(line), size);
        cr_assert_eq(strncmp("error: a text of some length", line, strlen(line)), 0);
    }
    cr_assert_str_eq(line, "error: a text of some length");
}

Test(diag, a_text_longer_than_its_bound_is_cut)
{
    char text[5000];
    struct wr_diag diag;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a", 1, 1), no_path, NULL, "%s", text);
    cr_assert_eq(diag.first->text.len, 1023u);
    wr_diag_fini(&diag);
}

Test(diag, without_memory_it_still_counts_and_says_that_notes_are_missing)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    failing_malloc_start(0);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, at("a", 1, 1), no_path, NULL, "lost");
    failing_malloc_stop();
    cr_assert(diag.is_incomplete);
    cr_assert_eq(diag.n_errors, 1u);
    cr_assert_eq(diag.n_kept, 0u);
    assert_printed(&diag, "1 more not shown\n");
    wr_diag_fini(&diag);
}
