/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_builder.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

struct fixture {
    struct texts texts;
    struct wr_config_reader reader;
    struct wr_config_builder builder;
};

static void init(struct fixture *fixture)
{
    texts_init(&fixture->texts);
    fixture->reader = texts_reader(&fixture->texts);
    wr_config_builder_init(&fixture->builder, &fixture->reader);
}

static void fini(struct fixture *fixture)
{
    texts_fini(&fixture->texts);
}

static void add(struct fixture *fixture, enum wr_config_kind kind, const char *text,
                const char *anchor)
{
    const struct wr_config_node node = {
        .kind = kind, .line = 1, .column = 1, .text = wr_str_of(text), .is_plain = true};

    wr_config_builder_add(&fixture->builder, &node, wr_str_of(anchor));
}

static void add_alias(struct fixture *fixture, const char *name)
{
    const struct wr_config_node place = {.line = 7, .column = 9};

    wr_config_builder_add_alias(&fixture->builder, &place, wr_str_of(name));
}

/* {a: [x, y], b: *l} with l the list. */
Test(config_builder, makes_a_tree_in_which_an_alias_is_the_node_itself)
{
    struct fixture fixture;

    init(&fixture);
    add(&fixture, WR_CONFIG_MAP, "", "");
    add(&fixture, WR_CONFIG_SCALAR, "a", "");
    add(&fixture, WR_CONFIG_LIST, "", "l");
    add(&fixture, WR_CONFIG_SCALAR, "x", "");
    add(&fixture, WR_CONFIG_SCALAR, "yy", "");
    wr_config_builder_close(&fixture.builder);
    add(&fixture, WR_CONFIG_SCALAR, "b", "");
    add_alias(&fixture, "l");
    wr_config_builder_close(&fixture.builder);

    const struct wr_config_node *const root = fixture.builder.root;

    cr_assert_not(fixture.builder.has_failed);
    cr_assert_eq(root->kind, WR_CONFIG_MAP);
    cr_assert_eq(root->n_items, 2u);
    cr_assert(wr_str_equal(root->first->key->text, wr_str_of("a")));
    cr_assert(wr_str_equal(root->last->key->text, wr_str_of("b")));
    cr_assert_eq(root->first->value, root->last->value);
    cr_assert_eq(root->first->value->n_items, 2u);
    cr_assert_null(root->first->value->first->key);
    /* The map, two keys, and twice a list of two. */
    cr_assert_eq(root->n_nodes, 9u);
    cr_assert_eq(root->n_bytes, 8u);
    cr_assert_eq(root->height, 3u);
    fini(&fixture);
}

Test(config_builder, an_alias_within_its_anchor_fails)
{
    struct fixture fixture;

    init(&fixture);
    add(&fixture, WR_CONFIG_LIST, "", "outer");
    add(&fixture, WR_CONFIG_LIST, "", "");
    add_alias(&fixture, "outer");
    cr_assert(fixture.builder.has_failed);
    cr_assert_str_eq(texts_notes(&fixture.texts),
                     "f.yaml:7:9: error: alias *outer stands within its own anchor\n");
    fini(&fixture);
}

Test(config_builder, an_alias_counts_as_its_whole_branch)
{
    struct fixture fixture;

    init(&fixture);
    fixture.texts.bounds.max_nodes = 4;
    add(&fixture, WR_CONFIG_LIST, "", "");
    add(&fixture, WR_CONFIG_LIST, "", "l");
    add(&fixture, WR_CONFIG_SCALAR, "x", "");
    wr_config_builder_close(&fixture.builder);
    cr_assert_not(fixture.builder.has_failed);
    add_alias(&fixture, "l");
    cr_assert(fixture.builder.has_failed);
    cr_assert_eq(fixture.reader.n_errors, 1u);
    fini(&fixture);
}

Test(config_builder, a_level_too_many_fails)
{
    struct fixture fixture;

    init(&fixture);
    fixture.builder.max_height = 2;
    add(&fixture, WR_CONFIG_LIST, "", "");
    add(&fixture, WR_CONFIG_LIST, "", "");
    cr_assert_not(fixture.builder.has_failed);
    add(&fixture, WR_CONFIG_SCALAR, "x", "");
    cr_assert(fixture.builder.has_failed);
    fini(&fixture);
}
