/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous checks from many threads while there is no server: nobody listens, or a peer takes
 * the connection and never speaks. Each check that was taken has its callback exactly once before
 * the client is gone, also when it is destroyed under them and when callbacks start the next ones.
 * With a server: tests/stress/client_threads.c, which tests/e2e runs.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/stress/crew.h"
#include "tests/stress/silence.h"
#include "weir/client.h"

enum {
    THREADS = 8,
    CHECKS = 200, /* of a thread */
    CHAIN = 4,    /* checks that the callbacks add to each of these */
    BOUND = 64,
    LIVES = 40,
};

struct life {
    struct weir_client *client;
    atomic_size_t n_taken;
    atomic_size_t n_busy;
    atomic_size_t n_connect;
    atomic_size_t n_cancelled;
    size_t n_callbacks; /* of the client's thread alone, so ThreadSanitizer watches the promise */
    size_t chain;
};

/* One check and those that follow it. */
struct link {
    struct life *life;
    size_t left;
    size_t n_callbacks;
};

/* Debian's gRPC is not instrumented, so what it orders by its own locks looks like races. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1";
}

static void on_result(void *arg, const struct weir_result *result);

static void begin(struct link *link)
{
    struct life *life = link->life;
    char value[] = "v";
    struct weir_request request;

    weir_request_init(&request, weir_str("edge"));
    weir_request_descriptor(&request);
    weir_request_entry(&request, weir_str("k"), weir_str(value));

    const enum weir_err err = weir_check_async(life->client, &request, on_result, link, NULL);

    value[0] = 'w'; /* the texts were copied */
    if (err == WEIR_OK) {
        atomic_fetch_add(&life->n_taken, 1);
        return;
    }
    wr_check(err == WEIR_ERR_BUSY || err == WEIR_ERR_CANCELLED, "not taken: %s",
             weir_err_name(err));
    atomic_fetch_add(&life->n_busy, 1);
}

static void on_result(void *arg, const struct weir_result *result)
{
    struct link *link = arg;
    struct life *life = link->life;

    life->n_callbacks++;
    link->n_callbacks++;
    wr_check(result->outcome == WEIR_NO_ANSWER && !weir_admits(result), "a verdict by nobody");
    if (result->error.code == WEIR_ERR_CONNECT) {
        atomic_fetch_add(&life->n_connect, 1);
    } else {
        wr_check(result->error.code == WEIR_ERR_CANCELLED, "%s", result->error.text);
        atomic_fetch_add(&life->n_cancelled, 1);
    }
    if (link->left > 0) {
        link->left--;
        begin(link);
    }
}

static struct link links[THREADS][CHECKS];

static void begin_all(size_t number, void *context)
{
    struct life *life = context;

    for (size_t i = 0; i < CHECKS; i++) {
        links[number][i] = (struct link){.life = life, .left = life->chain};
        begin(&links[number][i]);
    }
}

/* The number of callbacks, which are as many as checks were taken. */
static size_t live(const char *target, uint32_t deadline_ms, uint32_t bound, size_t chain)
{
    const struct weir_options options = {.target = target,
                                         .deadline_ms = deadline_ms,
                                         .policy = WEIR_FAIL_CLOSED,
                                         .in_flight_max = bound};
    struct life life = {.chain = chain};
    size_t n_callbacks = 0;

    wr_check(weir_client_new(&options, &life.client, NULL) == WEIR_OK, "no client");
    wr_crew_run(THREADS, begin_all, &life);
    weir_client_destroy(life.client);
    for (size_t i = 0; i < (size_t) THREADS * CHECKS; i++) {
        n_callbacks += links[i / CHECKS][i % CHECKS].n_callbacks;
    }
    wr_check(life.n_callbacks == atomic_load(&life.n_taken) && life.n_callbacks == n_callbacks &&
                 life.n_callbacks == atomic_load(&life.n_connect) + atomic_load(&life.n_cancelled),
             "%zu callbacks of %zu checks", life.n_callbacks, atomic_load(&life.n_taken));
    return life.n_callbacks;
}

int main(void)
{
    const char *const nowhere = "unix:/nonexistent/weir.sock";
    char silent[WR_SILENCE_TARGET_SIZE];
    const int fd = wr_silence_open(silent);
    const size_t all = (size_t) THREADS * CHECKS;
    size_t n_callbacks = 0;

    /* Destroyed under checks that nothing else would end. */
    wr_check(live(silent, 3600000, (uint32_t) all, CHAIN) == all, "not all were taken");
    wr_check(live(silent, 3600000, BOUND, 0) == BOUND, "the bound does not hold");
    for (size_t i = 0; i < LIVES; i++) {
        n_callbacks += live(nowhere, 60000, BOUND, CHAIN);
        n_callbacks += live(silent, 1 + (uint32_t) i % 5, BOUND, CHAIN);
    }
    close(fd);
    printf("client_async: %zu checks cancelled, %zu callbacks of %d clients\n", all + BOUND,
           n_callbacks, 2 * LIVES);
    return EXIT_SUCCESS;
}
