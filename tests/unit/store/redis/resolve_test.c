/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/resolve.h"

#include <criterion/criterion.h>
#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "store/redis/loop.h"

/* In place of the system's, by --wrap: names that begin with "slow" take as long as the tests want,
 * and are none. */
int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found);

static sem_t is_held, may_go; /* posted by each of those, and waited for */
static atomic_int n_slow;

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found)
{
    if (strncmp(host, "slow", 4) != 0) {
        return __real_getaddrinfo(host, service, hints, out_found);
    }
    (void) atomic_fetch_add(&n_slow, 1);
    (void) sem_post(&is_held);
    (void) sem_wait(&may_go);
    return EAI_AGAIN;
}

static void lay_slow_names(void)
{
    cr_assert_eq(sem_init(&is_held, 0, 0) + sem_init(&may_go, 0, 0), 0);
}

Test(redis_resolve, what_needs_no_look_up)
{
    static const struct {
        const char *host;
        uint16_t port;
        size_t n;
        int family;
    } rows[] = {
        {"127.0.0.1", 6379, 1, AF_INET},
        {"::1", 6379, 1, AF_INET6},
        {"/run/redis.sock", 0, 1, AF_UNIX},
        {"localhost", 6379, 0, 0},
        {"127.0.0", 6379, 0, 0},
        {"", 6379, 0, 0},
        {"", 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_redis_endpoints endpoints;

        wr_redis_resolve_numeric(wr_str_of(rows[i].host), rows[i].port, &endpoints);
        cr_assert_eq(endpoints.n, rows[i].n, "%s", rows[i].host);
        if (endpoints.n > 0) {
            cr_assert_eq(endpoints.items[0].storage.ss_family, rows[i].family, "%s", rows[i].host);
        }
    }
}

Test(redis_resolve, a_path_or_name_that_is_too_long_is_none)
{
    char text[4096];
    struct wr_redis_endpoints endpoints;

    memset(text, '1', sizeof text);
    wr_redis_resolve_numeric((struct wr_str){.ptr = text, .len = sizeof text}, 0, &endpoints);
    cr_assert_eq(endpoints.n, 0);
    wr_redis_resolve_numeric((struct wr_str){.ptr = text, .len = sizeof text}, 1, &endpoints);
    cr_assert_eq(endpoints.n, 0);
}

struct desk {
    struct wr_redis_loop *loop;
    struct wr_redis_resolver *resolver;
    struct wr_redis_job job;
    struct wr_str host;
    sem_t is_done;
    struct wr_redis_endpoints endpoints;
    const char *why;
    struct wr_redis_lookup *lookup;
    bool is_cancelled;
};

static void done(void *context, const struct wr_redis_endpoints *endpoints, const char *why)
{
    struct desk *const desk = context;

    cr_assert_not(desk->is_cancelled);
    desk->endpoints = *endpoints;
    desk->why = why;
    (void) sem_post(&desk->is_done);
}

static void ask(struct wr_redis_job *job)
{
    struct desk *const desk = job->context;

    desk->lookup = wr_redis_resolve(desk->resolver, desk->loop, desk->host, 6379, done, desk);
    if (desk->is_cancelled) {
        wr_redis_lookup_cancel(desk->lookup);
    }
}

static void look_up(struct desk *desk, const char *host, bool is_cancelled)
{
    *desk = (struct desk){.host = wr_str_of(host), .is_cancelled = is_cancelled};
    desk->job = (struct wr_redis_job){.run = ask, .context = desk};
    cr_assert_eq(sem_init(&desk->is_done, 0, 0), 0);
    cr_assert_eq(wr_redis_loop_new("test-loop", NULL, &desk->loop), WR_OK);
    cr_assert_eq(wr_redis_loop_start(desk->loop), WR_OK);
    cr_assert_eq(wr_redis_resolver_new(&desk->resolver), WR_OK);
    wr_redis_loop_call(desk->loop, &desk->job);
    if (!is_cancelled) {
        cr_assert_eq(sem_wait(&desk->is_done), 0);
    }
    wr_redis_loop_stop(desk->loop);
    wr_redis_resolver_destroy(desk->resolver);
    wr_redis_loop_destroy(desk->loop);
    cr_assert_eq(sem_destroy(&desk->is_done), 0);
}

Test(redis_resolve, a_name_of_this_machine)
{
    struct desk desk;

    look_up(&desk, "localhost", false);
    cr_assert_gt(desk.endpoints.n, 0, "%s", desk.why);

    const struct sockaddr_in *const address = (const void *) &desk.endpoints.items[0].storage;

    cr_assert_eq(ntohs(address->sin_port), 6379, "of both families the port is at one place");
}

Test(redis_resolve, a_name_that_cannot_be)
{
    static char long_name[1000];
    struct desk desk;

    look_up(&desk, "a..b", false);
    cr_assert_eq(desk.endpoints.n, 0);
    cr_assert_not_null(desk.why);
    memset(long_name, 'a', sizeof long_name - 1);
    look_up(&desk, long_name, false);
    cr_assert_eq(desk.endpoints.n, 0);
    cr_assert_not_null(desk.why);
}

Test(redis_resolve, who_cancelled_hears_nothing)
{
    struct desk desk;

    look_up(&desk, "localhost", true);
    cr_assert_eq(desk.endpoints.n, 0);
}

/* Many who ask at once. */
#define N_ASKING 20

struct crowd {
    struct wr_redis_loop *loop;
    struct wr_redis_resolver *resolver;
    struct desk asking[N_ASKING];
    char hosts[N_ASKING][16];
};

static void lay_crowd(struct crowd *crowd)
{
    lay_slow_names();
    cr_assert_eq(wr_redis_loop_new("test-loop", NULL, &crowd->loop), WR_OK);
    cr_assert_eq(wr_redis_loop_start(crowd->loop), WR_OK);
    cr_assert_eq(wr_redis_resolver_new(&crowd->resolver), WR_OK);
}

static void begin(struct crowd *crowd, size_t i, const char *host)
{
    struct desk *const desk = &crowd->asking[i];

    *desk =
        (struct desk){.loop = crowd->loop, .resolver = crowd->resolver, .host = wr_str_of(host)};
    desk->job = (struct wr_redis_job){.run = ask, .context = desk};
    cr_assert_eq(sem_init(&desk->is_done, 0, 0), 0);
    wr_redis_loop_call(crowd->loop, &desk->job);
}

static void cancel(struct wr_redis_job *job)
{
    struct desk *const desk = job->context;

    desk->is_cancelled = true;
    wr_redis_lookup_cancel(desk->lookup);
}

static void give_up(struct crowd *crowd, size_t i)
{
    crowd->asking[i].job = (struct wr_redis_job){.run = cancel, .context = &crowd->asking[i]};
    wr_redis_loop_call(crowd->loop, &crowd->asking[i].job);
}

static void clear_crowd(struct crowd *crowd)
{
    wr_redis_loop_stop(crowd->loop);
    wr_redis_resolver_destroy(crowd->resolver);
    wr_redis_loop_destroy(crowd->loop);
}

/* Neither the others nor the end wait for it, however often it is asked for. */
Test(redis_resolve, a_slow_name_holds_nobody_up, .timeout = 300)
{
    static struct crowd crowd;

    lay_crowd(&crowd);
    for (size_t i = 0; i < N_ASKING - 1; i++) {
        begin(&crowd, i, "slow");
    }
    begin(&crowd, N_ASKING - 1, "localhost");
    cr_assert_eq(sem_wait(&crowd.asking[N_ASKING - 1].is_done), 0);
    cr_assert_gt(crowd.asking[N_ASKING - 1].endpoints.n, 0);
    cr_assert_eq(sem_wait(&is_held), 0);
    for (size_t i = 0; i < N_ASKING - 1; i++) {
        give_up(&crowd, i);
    }
    clear_crowd(&crowd);
    cr_assert_eq(atomic_load(&n_slow), 1);
    (void) sem_post(&may_go);
}

Test(redis_resolve, those_who_ask_for_one_name_get_one_answer, .timeout = 300)
{
    static struct crowd crowd;

    lay_crowd(&crowd);
    for (size_t i = 0; i < N_ASKING; i++) {
        begin(&crowd, i, "slow");
    }
    (void) sem_post(&may_go);
    for (size_t i = 0; i < N_ASKING; i++) {
        cr_assert_eq(sem_wait(&crowd.asking[i].is_done), 0);
        cr_assert_eq(crowd.asking[i].endpoints.n, 0);
        cr_assert_not_null(crowd.asking[i].why);
    }
    clear_crowd(&crowd);
    cr_assert_eq(atomic_load(&n_slow), 1);
}

Test(redis_resolve, many_slow_names_have_so_many_threads, .timeout = 300)
{
    static struct crowd crowd;

    lay_crowd(&crowd);
    for (size_t i = 0; i < N_ASKING; i++) {
        (void) snprintf(crowd.hosts[i], sizeof crowd.hosts[i], "slow%zu", i);
        begin(&crowd, i, crowd.hosts[i]);
    }
    for (size_t i = 0; i < 16; i++) {
        cr_assert_eq(sem_wait(&is_held), 0);
    }
    cr_assert_neq(sem_trywait(&is_held), 0);
    for (size_t i = 0; i < N_ASKING; i++) {
        (void) sem_post(&may_go);
    }
    for (size_t i = 0; i < N_ASKING; i++) {
        cr_assert_eq(sem_wait(&crowd.asking[i].is_done), 0);
    }
    clear_crowd(&crowd);
    cr_assert_eq(atomic_load(&n_slow), N_ASKING);
}
