/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients in many threads while there is no server: nobody listens, or a peer takes the connection
 * and never speaks. Every check ends with the policy's choice, and clients come and go meanwhile.
 * Clients with a server are tests/stress/client_threads.c, which tests/e2e runs.
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
    CHECKS = 200, /* of a thread, when nobody listens */
    SLOW_CHECKS = 10,
    LIVES = 20,
};

struct shared {
    struct weir_client *client;
    size_t checks;
    enum weir_err want;
    atomic_size_t n_done;
};

/* Debian's gRPC is not instrumented, so what it orders by its own locks looks like races. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1";
}

static void check_often(size_t number, void *context)
{
    struct shared *const shared = context;

    for (size_t i = 0; i < shared->checks; i++) {
        struct weir_request request;
        struct weir_result result;

        weir_request_init(&request, weir_str("edge"));
        weir_request_descriptor(&request);
        weir_request_entry(&request, weir_str("k"), weir_str("v"));

        const enum weir_err err = weir_check(shared->client, &request, &result);

        wr_check(err == shared->want, "thread %zu: %s: %s", number, weir_err_name(err),
                 result.error.text);
        wr_check(result.outcome == WEIR_NO_ANSWER && !weir_admits(&result), "a verdict by nobody");
        atomic_fetch_add(&shared->n_done, 1);
    }
}

/* The number of checks that were made. */
static size_t live(const char *target, uint32_t deadline_ms, size_t checks, enum weir_err want)
{
    const struct weir_options options = {
        .target = target, .deadline_ms = deadline_ms, .policy = WEIR_FAIL_CLOSED};
    struct shared shared = {.checks = checks, .want = want};

    wr_check(weir_client_new(&options, &shared.client, NULL) == WEIR_OK, "no client");
    wr_crew_run(THREADS, check_often, &shared);
    weir_client_destroy(shared.client);
    return atomic_load(&shared.n_done);
}

int main(void)
{
    const char *const nowhere = "unix:/nonexistent/weir.sock";
    char silent[WR_SILENCE_TARGET_SIZE];
    const int fd = wr_silence_open(silent);
    size_t n_done = live(nowhere, 60000, CHECKS, WEIR_ERR_CONNECT);

    n_done += live(silent, 5, SLOW_CHECKS, WEIR_ERR_CONNECT);
    for (size_t i = 0; i < LIVES; i++) {
        n_done += live(nowhere, 60000, 1, WEIR_ERR_CONNECT);
        n_done += live(silent, 1, 1, WEIR_ERR_CONNECT);
    }
    close(fd);

    const size_t want = (size_t) THREADS * (CHECKS + SLOW_CHECKS + 2 * LIVES);

    wr_check(n_done == want, "%zu checks of %zu", n_done, want);
    printf("client_lost: %zu checks by %d clients, none answered\n", n_done, 2 + 2 * LIVES);
    return EXIT_SUCCESS;
}
