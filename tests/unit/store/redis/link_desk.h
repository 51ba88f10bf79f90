/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link to a fake server, on a loop of its own, and requests that go by it.
 *
 * Threads: the test's thread, but where a field says otherwise.
 */
#ifndef WR_TESTS_UNIT_STORE_REDIS_LINK_DESK_H
#define WR_TESTS_UNIT_STORE_REDIS_LINK_DESK_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/metrics.h"
#include "store/redis/link.h"
#include "store/redis/loop.h"
#include "store/redis/request.h"
#include "tests/support/fake_redis.h"

#define PATIENT_US INT64_C(60000000)

/* All of it is zero before lay_desk. */
struct link_desk {
    struct wr_fake_redis *fake;
    struct wr_metrics *metrics;
    struct wr_redis_loop *loop;
    struct wr_redis_link *link;
    struct wr_redis_link_options options;
    sem_t is_ready; /* posted at each change to ready */
    sem_t is_down, is_pushed;
    /* of the loop's thread, then read under a call of it */
    char why[256], pushed[64];
    int n_up, n_down;
    /* of the fake's thread */
    atomic_int n_loads, n_scripts, n_errors;
    const char *error; /* to EVALSHA, `n_errors` times */
    const char *ping, *login, *role, *name, *subscribe;
    atomic_int n_subscribes;
    char auth[64];
    double moment;
};

/* Of the running test, which has a process of its own. */
extern struct link_desk link_desk;

/* A fake and a link that is not open yet; `options` may be changed before `open_desk`. */
void lay_desk(void);

/* Opens the link. */
void open_desk(void);

/* The same, until it is ready. */
void open_desk_and_wait(void);

void clear_desk(void);

bool is_ready(void);

uint64_t counted(enum wr_metric metric);

/* Runs on the loop's thread; returns when it has. */
void on_loop(wr_redis_job_fn run, void *context);

/* A job of the loop: closes the link. */
void close_link(struct wr_redis_job *job);

/* A request, and how it ended. */
struct ask {
    struct wr_redis_request request;
    struct wr_redis_job job;
    char bytes[256];
    int64_t timeout_us;
    sem_t is_done;
    enum wr_redis_end end;
    int n_ends;
    char text[64];
    long long number;
};

/* The on_end of an ask, and the job that sends it. */
void ask_ended(struct wr_redis_request *request, enum wr_redis_end end,
               const struct redisReply *reply);
void send_ask(struct wr_redis_job *job);

/* An ask of two words, not sent yet. */
void write_ask(struct ask *ask, const char *word, const char *argument, int64_t timeout_us);

/* The same, sent. */
void post(struct ask *ask, const char *word, const char *argument, int64_t timeout_us);

enum wr_redis_end wait_for(struct ask *ask);

/* Both, with a deadline that is far away. */
enum wr_redis_end ask_for(struct ask *ask, const char *word, const char *argument);

/* Asks again and again until the answer is REPLIED: the link is on its way back. */
void wait_for_echo(void);

#endif
