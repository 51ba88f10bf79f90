/* SPDX-License-Identifier: Apache-2.0 */
/* Failure modes that meet: in the layers of one rule, and in the descriptors of one request. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "service/decision.h"
#include "tests/support/rules_text.h"

#define MAX_PARTS 3
#define RULES_SIZE 262144

/* How a limit comes out of the store, and of what its failure mode does without an answer. */
enum part {
    PASSED,
    REFUSED,
    ALLOWED,
    DENIED,
    FAILED,
    SHARED,     /* passed by memory */
    OVERDRAWN,  /* refused by memory */
    LOCAL_LOST, /* memory has no room either */
    N_PARTS,
};

static const struct {
    const char *mode;
    enum wr_take_answer answer;
    bool is_degraded, is_over;
} fates[N_PARTS] = {
    [PASSED] = {"deny", WR_TAKE_DECIDED, false, false},
    [REFUSED] = {"allow", WR_TAKE_DECIDED, false, true},
    [ALLOWED] = {"allow", WR_TAKE_AWAY, false, false},
    [DENIED] = {"deny", WR_TAKE_TIMEOUT, false, false},
    [FAILED] = {"error", WR_TAKE_AWAY, false, false},
    [SHARED] = {"local", WR_TAKE_DECIDED, true, false},
    [OVERDRAWN] = {"local", WR_TAKE_DECIDED, true, true},
    [LOCAL_LOST] = {"local", WR_TAKE_FULL, false, false},
};

#define BIT(part) (1U << (part))

/* What a descriptor comes to: the first row whose parts it has, all of them. */
struct row {
    unsigned parts;
    enum wr_code code;
    bool has_limit;
    const char *decider; /* in the header */
    int metric;          /* that counts it; -1: none */
};

static const struct row rows[] = {
    {BIT(REFUSED), WR_CODE_OVER_LIMIT, true, "", -1},
    {BIT(OVERDRAWN) | BIT(DENIED), WR_CODE_OVER_LIMIT, true, "deny", WR_METRIC_FAILURE_DENY},
    {BIT(OVERDRAWN), WR_CODE_OVER_LIMIT, true, "local", WR_METRIC_FAILURE_LOCAL},
    {BIT(DENIED), WR_CODE_OVER_LIMIT, false, "deny", WR_METRIC_FAILURE_DENY},
    {BIT(FAILED), WR_CODE_UNKNOWN, false, "", WR_METRIC_FAILURE_ERROR},
    {BIT(LOCAL_LOST), WR_CODE_UNKNOWN, false, "", WR_METRIC_FAILURE_ERROR},
    {BIT(SHARED), WR_CODE_OK, true, "local", WR_METRIC_FAILURE_LOCAL},
    {BIT(ALLOWED) | BIT(PASSED), WR_CODE_OK, true, "allow", WR_METRIC_FAILURE_ALLOW},
    {BIT(ALLOWED), WR_CODE_OK, false, "allow", WR_METRIC_FAILURE_ALLOW},
    {BIT(PASSED), WR_CODE_OK, true, "", -1},
};

static const struct row *row_of(unsigned parts)
{
    size_t i = 0;

    while ((parts & rows[i].parts) != rows[i].parts) {
        i++;
    }
    return &rows[i];
}

/* Some parts, as digits: the key of the rule that has them as its layers. */
struct combination {
    char key[MAX_PARTS + 1];
    size_t n;
};

static struct combination combination_of(size_t number, size_t n)
{
    struct combination it = {.n = n};

    for (size_t i = 0; i < n; i++, number /= N_PARTS) {
        it.key[i] = (char) ('0' + number % N_PARTS);
    }
    return it;
}

static enum part part_of(const struct combination *it, size_t i)
{
    return (enum part)(it->key[i] - '0');
}

/* Calls `visit` with each combination of one to three parts. */
static size_t for_each(void (*visit)(const struct combination *it))
{
    size_t n_of = 1, n_visited = 0;

    for (size_t n = 1; n <= MAX_PARTS; n++) {
        n_of *= N_PARTS;
        for (size_t number = 0; number < n_of; number++) {
            const struct combination it = combination_of(number, n);

            visit(&it);
            n_visited++;
        }
    }
    return n_visited;
}

static struct {
    char text[RULES_SIZE];
    size_t len;
    struct wr_rules *rules;
    struct wr_log_limit line; /* of all calls, so that one is logged */
} book;

static void write_rule(const struct combination *it)
{
    static const char *const units[MAX_PARTS] = {"hour", "minute", "day"};

    book.len += (size_t) snprintf(book.text + book.len, RULES_SIZE - book.len,
                                  "  - key: k%s\n    limits:\n", it->key);
    for (size_t i = 0; i < it->n; i++) {
        book.len += (size_t) snprintf(
            book.text + book.len, RULES_SIZE - book.len,
            "      - {unit: %s, requests_per_unit: 10, failure_mode: %s, name: n%zu}\n", units[i],
            fates[part_of(it, i)].mode, i);
    }
}

static void write_book(void)
{
    book.len = (size_t) snprintf(book.text, RULES_SIZE, "domain: d\ndescriptors:\n");
    cr_assert_eq(for_each(write_rule), 8 + 64 + 512);
    cr_assert_lt(book.len, RULES_SIZE);
    book.rules = wr_rules_of_text(book.text);
}

static void close_book(void)
{
    wr_rules_release(book.rules);
}

/* A call and what came of it. */
struct desk {
    struct wr_arena arena;
    struct wr_metrics *metrics;
    struct wr_settings settings;
    struct wr_response response;
    struct wr_failure failure;
    enum wr_err err;
};

static void answer(struct wr_take *take, enum part part)
{
    take->answer = fates[part].answer;
    take->is_degraded = fates[part].is_degraded;
    take->verdict = (struct wr_verdict){
        .over = fates[part].is_over,
        .remaining = fates[part].is_over ? 0 : 3,
        .reset_us = 1000000,
        .enforced = fates[part].is_degraded ? 5 : 10,
    };
}

/* `keys` name the rules of the descriptors; `parts` has the fates of all their limits, in order. */
static void play(struct desk *desk, const struct wr_str *keys, size_t n_keys,
                 const struct combination *parts)
{
    struct wr_entry entries[MAX_PARTS];
    struct wr_descriptor descriptors[MAX_PARTS];
    const struct wr_request request = {
        .domain = WR_STR("d"), .descriptors = descriptors, .n_descriptors = n_keys};
    struct wr_decision *decision = NULL;

    *desk = (struct desk){.metrics = wr_metrics_new(),
                          .settings = {.degraded_header = WR_STR("x-degraded")}};
    wr_arena_init(&desk->arena, 4096);
    for (size_t i = 0; i < n_keys; i++) {
        entries[i] = (struct wr_entry){keys[i], WR_STR("v")};
        descriptors[i] = (struct wr_descriptor){.entries = &entries[i], .n_entries = 1};
    }

    const struct wr_decision_frame frame = {
        .settings = &desk->settings,
        .rules = book.rules,
        .arena = &desk->arena,
        .metrics = wr_metrics_block_new(desk->metrics),
        .store_line = &book.line,
    };

    cr_assert_eq(wr_decision_begin(&frame, &request, &decision, &desk->failure), WR_OK);

    struct wr_batch *const batch = wr_decision_batch(decision);

    cr_assert_eq(batch->n_takes, parts->n);
    for (size_t i = 0; i < batch->n_takes; i++) {
        answer(&batch->takes[i], part_of(parts, i));
    }
    desk->err = wr_decision_finish(decision, &desk->response, &desk->failure);
}

static void clear(struct desk *desk)
{
    wr_arena_fini(&desk->arena);
    wr_metrics_destroy(desk->metrics);
}

static void expect_decider(const struct desk *desk, const char *decider, const char *of)
{
    const bool is_told = desk->response.n_headers > 0;

    cr_assert_eq(is_told, decider[0] != '\0', "%s", of);
    cr_assert(!is_told || wr_str_equal(desk->response.headers[0].value, wr_str_of(decider)),
              "%s: not %s", of, decider);
}

static void expect_metric(const struct desk *desk, const struct row *row, const char *of)
{
    static const enum wr_metric metrics[] = {WR_METRIC_FAILURE_ALLOW, WR_METRIC_FAILURE_DENY,
                                             WR_METRIC_FAILURE_ERROR, WR_METRIC_FAILURE_LOCAL};

    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        cr_assert_eq(wr_metrics_sum(desk->metrics, metrics[i]), row->metric == (int) metrics[i],
                     "%s: metric %zu", of, i);
    }
}

static void expect_of_layers(const struct combination *it)
{
    char key[MAX_PARTS + 2];
    unsigned parts = 0;
    struct desk desk;

    (void) snprintf(key, sizeof key, "k%s", it->key);
    for (size_t i = 0; i < it->n; i++) {
        parts |= BIT(part_of(it, i));
    }

    const struct row *const row = row_of(parts);
    const struct wr_str name = wr_str_of(key);

    play(&desk, &name, 1, it);
    cr_assert_eq(desk.err, row->code == WR_CODE_UNKNOWN ? WR_ERR_IO : WR_OK, "%s", key);
    expect_metric(&desk, row, key);
    if (desk.err == WR_OK) {
        const struct wr_descriptor_status *const status = &desk.response.statuses[0];

        cr_assert_eq(desk.response.overall_code, row->code, "%s", key);
        cr_assert_eq(status->code, row->code, "%s", key);
        cr_assert_eq(status->has_limit, row->has_limit, "%s", key);
        expect_decider(&desk, row->decider, key);
    }
    clear(&desk);
}

Test(unanswered_mixed, in_the_layers_of_a_rule, .init = write_book, .fini = close_book)
{
    cr_assert_eq(for_each(expect_of_layers), 8 + 64 + 512);
}

static bool is_stricter(const char *a, const char *b)
{
    static const char order[] = "allow local deny";

    return a[0] != '\0' && (b[0] == '\0' || strstr(order, a) > strstr(order, b));
}

static void expect_of_descriptors(const struct combination *it)
{
    char texts[MAX_PARTS][3];
    struct wr_str keys[MAX_PARTS] = {0};
    const char *decider = "";
    bool is_over = false, is_unknown = false;
    struct desk desk;

    for (size_t i = 0; i < it->n; i++) {
        const struct row *const row = row_of(BIT(part_of(it, i)));

        (void) snprintf(texts[i], sizeof texts[i], "k%c", it->key[i]);
        keys[i] = wr_str_of(texts[i]);
        is_over |= row->code == WR_CODE_OVER_LIMIT;
        is_unknown |= row->code == WR_CODE_UNKNOWN;
        decider = is_stricter(row->decider, decider) ? row->decider : decider;
    }
    play(&desk, keys, it->n, it);
    cr_assert_eq(desk.err, is_unknown && !is_over ? WR_ERR_IO : WR_OK, "%s", it->key);
    if (desk.err == WR_OK) {
        cr_assert_eq(desk.response.overall_code, is_over ? WR_CODE_OVER_LIMIT : WR_CODE_OK, "%s",
                     it->key);
        expect_decider(&desk, decider, it->key);
    }
    for (size_t i = 0; i < it->n && desk.err == WR_OK; i++) {
        const struct row *const row = row_of(BIT(part_of(it, i)));

        cr_assert_eq(desk.response.statuses[i].code, row->code, "%s", it->key);
        cr_assert_eq(desk.response.statuses[i].has_limit, row->has_limit, "%s", it->key);
    }
    clear(&desk);
}

Test(unanswered_mixed, in_the_descriptors_of_a_request, .init = write_book, .fini = close_book)
{
    cr_assert_eq(for_each(expect_of_descriptors), 8 + 64 + 512);
}

/* The numbers are those of what was counted, wherever in the list that stands. */
Test(unanswered_mixed, a_share_is_shown_beside_a_limit_that_is_let_through, .init = write_book,
     .fini = close_book)
{
    static const struct {
        const char *key;
        uint32_t requests;
        const char *name;
    } shown[] = {
        {"25", 5, "n1"}, {"52", 5, "n0"},  {"225", 5, "n2"}, {"26", 5, "n1"},
        {"62", 5, "n0"}, {"20", 10, "n1"}, {"02", 10, "n0"},
    };

    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        struct combination it = {.n = strlen(shown[i].key)};
        char key[MAX_PARTS + 2];
        struct desk desk;

        (void) snprintf(it.key, sizeof it.key, "%s", shown[i].key);
        (void) snprintf(key, sizeof key, "k%s", it.key);

        const struct wr_str name = wr_str_of(key);

        play(&desk, &name, 1, &it);
        cr_assert_eq(desk.err, WR_OK, "%s", key);
        cr_assert_eq(desk.response.statuses[0].requests_per_unit, shown[i].requests, "%s", key);
        cr_assert(wr_str_equal(desk.response.statuses[0].name, wr_str_of(shown[i].name)), "%s",
                  key);
        clear(&desk);
    }
}
