/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client, many threads. Usage: client_threads TARGET DEADLINE_MS open|closed
 * [wait|async [ATTEMPTS]]
 *
 * With `async` no thread waits for a check before it starts the next one, but for all at the end.
 *
 * Each line of stdin is a round, "THREADS CHECKS DOMAIN KEY VALUE": so many threads check so often
 * each, with the same client. A VALUE of @N stands for N bytes. Each round answers with one line of
 * what came of it:
 *
 *     admitted=1 refused=0 no_answer=0 passed=1 slowest_ms=3 code=ok text=
 *
 * `passed` is what a caller would let through; code and text are of the last failure.
 */
#include "weir/client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 64

struct round {
    struct weir_client *client;
    bool is_async;
    unsigned int threads;
    unsigned int checks;
    char domain[64];
    char key[64];
    struct weir_str value;
};

/* What one thread saw; it alone, or the client's thread for it, writes until it is joined. */
struct tally {
    const struct round *round;
    pthread_mutex_t mutex;
    pthread_cond_t none_left;
    unsigned int left;        /* under mutex: async checks in flight */
    unsigned int outcomes[3]; /* by enum weir_outcome */
    unsigned int passed;
    long slowest_ms;
    struct weir_error last;
};

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void count(struct tally *tally, const struct weir_result *result)
{
    if (result->outcome == WEIR_NO_ANSWER) {
        tally->last = result->error;
    }
    tally->outcomes[result->outcome]++;
    tally->passed += weir_admits(result) ? 1 : 0;
}

static void build(const struct round *round, struct weir_request *request)
{
    weir_request_init(request, weir_str(round->domain));
    weir_request_descriptor(request);
    weir_request_entry(request, weir_str(round->key), round->value);
}

static void check_once(struct tally *tally)
{
    struct weir_request request;
    struct weir_result result;
    const long start_ms = now_ms();

    build(tally->round, &request);
    if (weir_check(tally->round->client, &request, &result) != result.error.code) {
        fprintf(stderr, "client_threads: a code that is not the error's\n");
        exit(EXIT_FAILURE);
    }
    count(tally, &result);

    const long took_ms = now_ms() - start_ms;

    tally->slowest_ms = took_ms > tally->slowest_ms ? took_ms : tally->slowest_ms;
}

static void on_result(void *arg, const struct weir_result *result)
{
    struct tally *tally = arg;

    count(tally, result);
    pthread_mutex_lock(&tally->mutex);
    if (--tally->left == 0) {
        pthread_cond_signal(&tally->none_left);
    }
    pthread_mutex_unlock(&tally->mutex);
}

static void start_all(struct tally *tally)
{
    const long start_ms = now_ms();

    tally->left = tally->round->checks;
    for (unsigned int i = 0; i < tally->round->checks; i++) {
        struct weir_request request;
        struct weir_error error;

        build(tally->round, &request);
        if (weir_check_async(tally->round->client, &request, on_result, tally, &error) != WEIR_OK) {
            fprintf(stderr, "client_threads: %s\n", error.text);
            exit(EXIT_FAILURE);
        }
    }
    pthread_mutex_lock(&tally->mutex);
    while (tally->left > 0) {
        pthread_cond_wait(&tally->none_left, &tally->mutex);
    }
    pthread_mutex_unlock(&tally->mutex);
    tally->slowest_ms = now_ms() - start_ms;
}

static void *work(void *arg)
{
    struct tally *tally = arg;

    if (tally->round->is_async) {
        start_all(tally);
        return NULL;
    }
    for (unsigned int i = 0; i < tally->round->checks; i++) {
        check_once(tally);
    }
    return NULL;
}

static void add(struct tally *sum, const struct tally *tally)
{
    for (size_t i = 0; i < 3; i++) {
        sum->outcomes[i] += tally->outcomes[i];
    }
    sum->passed += tally->passed;
    sum->slowest_ms = tally->slowest_ms > sum->slowest_ms ? tally->slowest_ms : sum->slowest_ms;
    if (tally->last.code != WEIR_OK) {
        sum->last = tally->last;
    }
}

static int play(const struct round *round)
{
    pthread_t threads[THREADS_MAX];
    struct tally tallies[THREADS_MAX] = {0};
    struct tally sum = {0};

    for (unsigned int i = 0; i < round->threads; i++) {
        tallies[i].round = round;
        pthread_mutex_init(&tallies[i].mutex, NULL);
        pthread_cond_init(&tallies[i].none_left, NULL);
        if (pthread_create(&threads[i], NULL, work, &tallies[i]) != 0) {
            perror("client_threads: pthread_create");
            exit(EXIT_FAILURE);
        }
    }
    for (unsigned int i = 0; i < round->threads; i++) {
        pthread_join(threads[i], NULL);
        add(&sum, &tallies[i]);
        pthread_cond_destroy(&tallies[i].none_left);
        pthread_mutex_destroy(&tallies[i].mutex);
    }
    printf("admitted=%u refused=%u no_answer=%u passed=%u slowest_ms=%ld code=%s text=%s\n",
           sum.outcomes[WEIR_ADMITTED], sum.outcomes[WEIR_REFUSED], sum.outcomes[WEIR_NO_ANSWER],
           sum.passed, sum.slowest_ms, weir_err_name(sum.last.code), sum.last.text);
    return fflush(stdout);
}

/* The value that a word stands for, to be freed. */
static char *value_new(const char *word, struct weir_str *out_value)
{
    const bool is_size = word[0] == '@';
    const size_t len = is_size ? strtoul(&word[1], NULL, 10) : strlen(word);
    char *bytes = malloc(len + 1);

    if (bytes == NULL) {
        perror("client_threads: malloc");
        exit(EXIT_FAILURE);
    }
    memset(bytes, 'v', len);
    if (!is_size) {
        memcpy(bytes, word, len);
    }
    *out_value = (struct weir_str){bytes, len};
    return bytes;
}

static int play_line(const char *line, struct weir_client *client, bool is_async)
{
    struct round round = {.client = client, .is_async = is_async};
    char word[64];

    if (sscanf(line, "%u %u %63s %63s %63s", &round.threads, &round.checks, round.domain, round.key,
               word) != 5 ||
        round.threads > THREADS_MAX) {
        fprintf(stderr, "client_threads: not a round: %s", line);
        return EXIT_FAILURE;
    }

    char *value = value_new(word, &round.value);
    const int status = play(&round);

    free(value);
    return status;
}

static int play_all(struct weir_client *client, bool is_async)
{
    char line[256];

    while (fgets(line, sizeof line, stdin) != NULL) {
        if (play_line(line, client, is_async) != 0) {
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 6) {
        fprintf(stderr,
                "usage: client_threads TARGET DEADLINE_MS open|closed [wait|async [ATTEMPTS]]\n");
        return EXIT_FAILURE;
    }

    const bool is_async = argc > 4 && strcmp(argv[4], "async") == 0;
    const struct weir_options options = {
        .target = argv[1],
        .deadline_ms = (uint32_t) strtoul(argv[2], NULL, 10),
        .policy = strcmp(argv[3], "closed") == 0 ? WEIR_FAIL_CLOSED : WEIR_FAIL_OPEN,
        .attempts_max = argc > 5 ? (uint32_t) strtoul(argv[5], NULL, 10) : 0,
        .retries_sent = argc > 5,
        .in_flight_max = 100000,
    };
    struct weir_client *client;
    struct weir_error error;

    if (weir_client_new(&options, &client, &error) != WEIR_OK) {
        fprintf(stderr, "client_threads: %s\n", error.text);
        return EXIT_FAILURE;
    }

    const int status = play_all(client, is_async);

    weir_client_destroy(client);
    return status;
}
