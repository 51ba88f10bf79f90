/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/backend_contract.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "limit/identity.h"
#include "tests/support/drawn_call.h"
#include "tests/support/take_model.h"
#include "tests/unit/store/take_rows.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define YEAR S(31536000)
#define SHORT S(1) / 4
#define PATIENCE_S 60

/* ---- asking ---- */

struct identity {
    char bytes[128];
    size_t len;
};

/* A batch on its way. */
struct asked {
    struct wr_batch batch;
    struct wr_arena arena;
    struct identity identities[TAKE_ROWS_MAX];
    struct wr_take takes[TAKE_ROWS_MAX];
    sem_t done;
    int64_t before_us; /* monotonic time */
};

static struct wr_clock clock_now;

/* Counters of one story are in a domain of its own. */
static void write_identity(struct identity *identity, const char *domain, const char *key,
                           int64_t length_us)
{
    const struct wr_identity_tail tail = {.length_us = length_us};
    char *at = wr_identity_put_domain(identity->bytes, wr_str_of(domain));

    at = wr_identity_put_entry(at, false, (struct wr_str) WR_STR("key"), wr_str_of(key));
    at = wr_identity_put_tail(at, &tail);
    identity->len = (size_t) (at - identity->bytes);
}

static void note_done(struct wr_batch *batch, void *context)
{
    (void) batch;
    (void) sem_post(context);
}

/* Gives the `i`-th take of `asked` its name. All of a domain stand together. */
static void name_take(struct asked *asked, size_t i, const char *domain, const char *key)
{
    struct wr_take *const take = &asked->takes[i];
    struct identity *const identity = &asked->identities[i];

    write_identity(identity, domain, key, take->limit.length_us);
    take->key = (struct wr_str){.ptr = identity->bytes, .len = identity->len};
    take->is_domain_group = true;
}

/* Hands over the first `n` takes, which have their names. */
static void ask(const struct contract *contract, struct asked *asked, size_t n,
                enum wr_charge_mode mode)
{
    const struct wr_now now = wr_clock_read(&clock_now);

    wr_arena_init(&asked->arena, 2048);
    cr_assert_eq(sem_init(&asked->done, 0, 0), 0);
    asked->before_us = now.mono_us;
    asked->batch = (struct wr_batch){
        .takes = asked->takes,
        .n_takes = n,
        .now = now,
        .deadline_mono_us = now.mono_us + S(PATIENCE_S),
        .mode = mode,
        .metrics = contract->metrics,
        .arena = &asked->arena,
        .done = note_done,
        .context = &asked->done,
    };
    wr_backend_take(contract->backend, &asked->batch);
}

/* Until it is done; then once more in vain, for done comes once. */
static void await(struct asked *asked)
{
    struct timespec deadline;
    int err;

    (void) clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PATIENCE_S;
    do {
        err = sem_timedwait(&asked->done, &deadline);
    } while (err != 0 && errno == EINTR);
    cr_assert_eq(err, 0, "not done in time");
    cr_assert_neq(sem_trywait(&asked->done), 0, "done twice");
    cr_assert_eq(sem_destroy(&asked->done), 0);
    wr_arena_fini(&asked->arena);
    for (size_t i = 0; i < asked->batch.n_takes; i++) {
        const struct wr_take *const take = &asked->takes[i];

        cr_assert_eq(take->answer, WR_TAKE_DECIDED, "take %zu: answer %d", i, (int) take->answer);
        cr_assert(!take->is_degraded);
        cr_assert(take->verdict.reset_us > 0 && take->verdict.reset_us <= take->limit.length_us);
    }
}

/* A name that no run before had. */
static const char *new_domain(char *text, size_t size, const char *what)
{
    (void) snprintf(text, size, "%.40s %" PRIu64, what, wr_draw_seed());
    return text;
}

/* ---- verdicts ---- */

struct call {
    struct take_row rows[TAKE_ROWS_MAX];
    enum wr_charge_mode mode;
};

#define CALL(...)                                                                                  \
    {                                                                                              \
        .rows = { __VA_ARGS__ }                                                                    \
    }
#define STOP(...)                                                                                  \
    {                                                                                              \
        .rows = {__VA_ARGS__}, .mode = WR_CHARGE_STOP                                              \
    }
static void play_call(const struct contract *contract, const char *domain, size_t number,
                      const struct call *call)
{
    struct asked asked;
    const size_t n = take_rows_make(call->rows, YEAR, asked.takes);

    for (size_t i = 0; i < n; i++) {
        name_take(&asked, i, domain, call->rows[i].key);
    }
    ask(contract, &asked, n, call->mode);
    await(&asked);
    take_rows_check(call->rows, asked.takes, n, domain, number);
}

static void play(const struct contract *contract, const char *story, const struct call *calls,
                 size_t n)
{
    char domain[64];

    (void) new_domain(domain, sizeof domain, story);
    for (size_t i = 0; i < n; i++) {
        play_call(contract, domain, i, &calls[i]);
    }
}

#define PLAY(calls) play(contract, #calls, (calls), sizeof(calls) / sizeof((calls)[0]))

static void plain_verdicts(const struct contract *contract)
{
    static const struct call counts_to_the_limit[] = {
        CALL(TAKE("a", 1, 3, 2)),
        CALL(TAKE("a", 2, 3, 0), TAKE("b", 1, 3, 2)),
        CALL(TAKE("a", 1, 3, OVER), TAKE("b", 2, 3, 0)),
    };
    static const struct call the_same_key_twice_counts_twice[] = {
        CALL(TAKE("a", 2, 3, 1), TAKE("b", 1, 3, 2), TAKE("a", 1, 3, 0), TAKE("a", 1, 3, OVER)),
    };
    static const struct call looks_take_nothing[] = {
        CALL(TAKE("a", 0, 3, 3)),
        CALL(TAKE("a", 3, 3, 0), TAKE("a", 0, 3, 0)),
        CALL(TAKE("a", 1, 3, OVER), TAKE("a", 0, 3, OVER), TAKE("a", 0, 5, 1)),
    };
    static const struct call overshoots_and_gives_back[] = {
        CALL(TAKE("a", 5, 3, OVER)),
        CALL(TAKE("a", -2, 3, 0)),
        CALL(TAKE("a", -1, 3, 1)),
        CALL(TAKE("a", -99, 3, 3)),
        CALL(TAKE("new", -1, 3, 3)),
        CALL(TAKE("new", 3, 3, 0)),
        CALL(TAKE("new", 1, 3, OVER), TAKE("new", -2, 3, 1)),
    };
    static const struct call follows_a_changed_number[] = {
        CALL(TAKE("a", 3, 3, 0)),
        CALL(TAKE("a", 1, 5, 1)),
        CALL(TAKE("a", 0, 2, OVER)),
    };
    static const struct call extremes[] = {
        CALL(TAKE("a", 0, 0, 0), TAKE("a", 1, 0, OVER), TAKE("a", -1, 0, 0)),
        CALL(TAKE("b", UINT32_MAX - 1, UINT32_MAX, 1), TAKE("b", 1, UINT32_MAX, 0)),
        CALL(TAKE("b", 1, UINT32_MAX, OVER)),
        CALL(TAKE("c", INT64_MAX, 9, OVER), TAKE("c", 1, 9, OVER)),
        CALL(TAKE("c", -(int64_t) (WR_COUNT_MAX - 4), 9, 5)),
    };
    static const struct call keys_are_bytes[] = {
        CALL(TAKE("", 1, 3, 2), TAKE("{", 1, 3, 2), TAKE("}", 1, 3, 2), TAKE("a|key=b", 1, 3, 2)),
        CALL(TAKE("A", 1, 3, 2), TAKE("\n", 1, 3, 2), TAKE("%7B", 1, 3, 2), TAKE("*", 1, 3, 2)),
        CALL(TAKE("", 1, 3, 1), TAKE("{", 1, 3, 1), TAKE("}", 1, 3, 1), TAKE("a|key=b", 1, 3, 1)),
    };

    PLAY(counts_to_the_limit);
    PLAY(the_same_key_twice_counts_twice);
    PLAY(looks_take_nothing);
    PLAY(overshoots_and_gives_back);
    PLAY(follows_a_changed_number);
    PLAY(extremes);
    PLAY(keys_are_bytes);
}

static void group_verdicts(const struct contract *contract)
{
    static const struct call only_what_fits[] = {
        CALL(COUNT(ADMITTED, "a", 2, 3, 1)),
        CALL(COUNT(ADMITTED, "a", 2, 3, OVER), COUNT(ADMITTED, "a", 1, 3, 0)),
    };
    static const struct call all_or_nothing[] = {
        CALL(COUNT(OR_NOTHING, "a", 1, 9, 8), COUNT(OR_NOTHING, "b", 1, 1, 0)),
        CALL(COUNT(OR_NOTHING, "a", 1, 9, 8), COUNT(OR_NOTHING, "b", 1, 1, OVER)),
        CALL(COUNT(OR_NOTHING, "b", 0, 1, 0), COUNT(OR_NOTHING, "a", 1, 9, 7)),
        CALL(TAKE("b", 1, 1, OVER)),
        CALL(COUNT(OR_NOTHING, "b", 0, 1, OVER), COUNT(OR_NOTHING, "a", 1, 9, 7)),
        CALL(TAKE("a", 0, 9, 7), TAKE("b", 0, 9, 7)),
    };
    static const struct call groups_are_apart[] = {
        CALL(GROUP(1, OR_NOTHING, "a", 1, 9, 9), GROUP(1, OR_NOTHING, "b", 2, 1, OVER),
             GROUP(2, OR_NOTHING, "c", 1, 9, 8), GROUP(2, OR_NOTHING, "a", 1, 9, 8)),
    };
    static const struct call other_counts_in_a_refused_group[] = {
        CALL(COUNT(OR_NOTHING, "a", 1, 9, 9), TAKE("b", 2, 1, OVER), COUNT(ADMITTED, "c", 1, 9, 8),
             COUNT(OR_NOTHING, "d", -1, 9, 9)),
        CALL(TAKE("b", 0, 3, 1), TAKE("c", 0, 9, 8)),
    };
    static const struct call a_post_paid_cost_does_not_count_twice[] = {
        CALL(TAKE("a", 3, 2, OVER), COUNT(OR_NOTHING, "a", 1, 5, 2)),
    };
    static const struct call shadows_block_nobody[] = {
        CALL(COUNT(OR_NOTHING, "a", 1, 9, 8), SHADOW(OR_NOTHING, "b", 2, 1, OVER)),
        CALL(SHADOW(OR_NOTHING, "b", 1, 9, 7), COUNT(OR_NOTHING, "c", 2, 1, OVER)),
    };
    static const struct call one_key_adds_up[] = {
        CALL(COUNT(OR_NOTHING, "a", 2, 3, OVER), COUNT(OR_NOTHING, "a", 2, 3, OVER)),
        CALL(COUNT(OR_NOTHING, "a", 1, 3, 2), COUNT(OR_NOTHING, "a", 2, 3, 0)),
    };

    PLAY(only_what_fits);
    PLAY(all_or_nothing);
    PLAY(groups_are_apart);
    PLAY(other_counts_in_a_refused_group);
    PLAY(a_post_paid_cost_does_not_count_twice);
    PLAY(shadows_block_nobody);
    PLAY(one_key_adds_up);
}

static void stop_verdicts(const struct contract *contract)
{
    static const struct call others_are_looked_at[] = {
        STOP(TAKE("a", 1, 9, 8), TAKE("b", 1, 1, 0)),
        STOP(TAKE("a", 1, 9, 8), TAKE("b", 1, 1, OVER)),
        CALL(TAKE("b", 0, 9, 7)),
        STOP(SHADOW(ALL, "b", 1, 1, OVER), TAKE("a", 1, 9, 8)),
        STOP(TAKE("b", 0, 1, OVER), TAKE("a", -1, 9, 9)),
    };
    static const struct call counts_and_groups_have_no_say[] = {
        STOP(GROUP(1, ADMITTED, "a", 5, 3, OVER), GROUP(2, ALL, "b", 1, 3, 3)),
        CALL(TAKE("a", 0, 9, 4)),
    };
    static const struct call of_one_key_each_is_judged_alone[] = {
        STOP(TAKE("a", 1, 2, 1), TAKE("a", 1, 2, 0), TAKE("a", 1, 2, OVER)),
        CALL(TAKE("a", 0, 9, 6)),
    };

    PLAY(others_are_looked_at);
    PLAY(counts_and_groups_have_no_say);
    PLAY(of_one_key_each_is_judged_alone);
}

void contract_verdicts(const struct contract *contract)
{
    wr_clock_init(&clock_now, NULL, NULL);
    plain_verdicts(contract);
    group_verdicts(contract);
    stop_verdicts(contract);
}

/* ---- at random ---- */

#define N_KEYS 4
#define N_SEQUENCES 500
#define N_CALLS 6

static void print_take(const struct wr_take *got, const struct wr_take *want, unsigned key)
{
    (void) fprintf(stderr,
                   "  key %u, limit %" PRIu64 ", count %d, group %u%s, %s%" PRIu64 ": %d %" PRIu64
                   ", not %d %" PRIu64 "\n",
                   key, got->limit.requests, (int) got->limit.count, got->group,
                   got->is_enforced ? "" : ", shadow", got->is_refund ? "-" : "", got->hits,
                   got->verdict.over, got->verdict.remaining, want->verdict.over,
                   want->verdict.remaining);
}

static void play_drawn(const struct contract *contract, struct wr_take_model *model,
                       const char *domain, const struct wr_drawn_call *call, uint64_t seed)
{
    static const char *const keys[N_KEYS] = {"0", "1", "2", "3"};
    struct wr_take want[WR_DRAWN_TAKES];
    struct asked asked;
    bool is_same = true;

    for (size_t i = 0; i < call->n; i++) {
        asked.takes[i] = want[i] = call->ones[i].take;
        name_take(&asked, i, domain, keys[call->ones[i].key]);
        want[i].key = wr_str_of(keys[call->ones[i].key]);
    }
    ask(contract, &asked, call->n, call->mode);
    wr_take_model_batch(model, want, call->n, call->mode, asked.batch.now.wall_us);
    await(&asked);
    for (size_t i = 0; i < call->n; i++) {
        is_same = is_same && asked.takes[i].verdict.over == want[i].verdict.over &&
                  asked.takes[i].verdict.remaining == want[i].verdict.remaining;
    }
    for (size_t i = 0; i < call->n && !is_same; i++) {
        print_take(&asked.takes[i], &want[i], call->ones[i].key);
    }
    cr_assert(is_same, "a call with mode %d differs from the model, with seed %" PRIu64,
              (int) call->mode, seed);
}

void contract_random(const struct contract *contract)
{
    static const struct wr_limit limits[N_KEYS] = {
        {.length_us = YEAR}, {.length_us = YEAR}, {.length_us = YEAR}, {.length_us = YEAR}};
    const uint64_t first_seed = wr_draw_seed();
    uint64_t seed = first_seed;

    wr_clock_init(&clock_now, NULL, NULL);
    for (int i = 0; i < N_SEQUENCES; i++) {
        struct wr_take_model model = {0};
        char domain[64];

        (void) new_domain(domain, sizeof domain, "random");
        for (int k = 0; k < N_CALLS; k++) {
            struct wr_drawn_call call = {0};

            wr_draw_call(&seed, limits, N_KEYS, &call);
            play_drawn(contract, &model, domain, &call, first_seed);
        }
    }
}

/* ---- windows ---- */

static void ask_one(const struct contract *contract, struct asked *asked, const char *domain,
                    uint64_t hits)
{
    asked->takes[0] = (struct wr_take){
        .limit = {.requests = 3, .length_us = SHORT},
        .hits = hits,
        .is_enforced = true,
    };
    name_take(asked, 0, domain, "key");
    ask(contract, asked, 1, WR_CHARGE_BY_COUNT);
    await(asked);
}

/* Goes over the limit, then looks until the next window has begun. */
static void pass_a_window(const struct contract *contract, const char *domain)
{
    struct asked first, look;
    int64_t passed_us;

    ask_one(contract, &first, domain, 4);
    cr_assert(first.takes[0].verdict.over);
    do {
        ask_one(contract, &look, domain, 0);
        passed_us = wr_clock_read(&clock_now).mono_us - first.before_us;
        cr_assert_lt(passed_us, S(PATIENCE_S), "the window does not end");
    } while (look.takes[0].verdict.over);
    cr_assert_eq(look.takes[0].verdict.remaining, 3u);
    cr_assert_geq(passed_us, first.takes[0].verdict.reset_us - 1000, "too early");
}

void contract_windows(const struct contract *contract)
{
    char domain[64];

    wr_clock_init(&clock_now, NULL, NULL);
    (void) new_domain(domain, sizeof domain, "windows");
    pass_a_window(contract, domain);
    pass_a_window(contract, domain);
}

/* ---- many at once ---- */

#define N_AT_ONCE 200
#define LIMIT 60

void contract_many(const struct contract *contract)
{
    static struct asked asked[N_AT_ONCE];
    static const enum wr_count counts[] = {ALL, ADMITTED, OR_NOTHING};

    wr_clock_init(&clock_now, NULL, NULL);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        char domain[64];
        size_t n_admitted = 0;

        (void) new_domain(domain, sizeof domain, "many");
        for (size_t i = 0; i < N_AT_ONCE; i++) {
            asked[i].takes[0] = (struct wr_take){
                .limit = {.requests = LIMIT, .length_us = YEAR, .count = counts[c]},
                .hits = 1,
                .is_enforced = true,
            };
            name_take(&asked[i], 0, domain, "key");
            ask(contract, &asked[i], 1, WR_CHARGE_BY_COUNT);
        }
        for (size_t i = 0; i < N_AT_ONCE; i++) {
            await(&asked[i]);
            n_admitted += !asked[i].takes[0].verdict.over;
        }
        cr_assert_eq(n_admitted, LIMIT, "%zu of %d admitted, by count %zu", n_admitted, N_AT_ONCE,
                     c);
    }
}
