/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/thread.h"
#include "store/redis/loop.h"

/* The longest name of a host, RFC 1035 section 2.3.4. */
#define HOST_MAX 255

/* Names that are looked up at a time; further ones wait for one to end. */
#define WORKERS_MAX 16

struct name {
    char host[HOST_MAX + 1];
    uint16_t port;
};

struct answer {
    struct wr_redis_endpoints endpoints;
    const char *why;
};

/* A thread, and what it looks up. Frees itself. */
struct worker {
    struct wr_thread thread;
    struct wr_redis_resolver *resolver; /* lives as long as workers do */
    struct name name;                   /* changed under the lock, by the thread alone */
    struct worker *next;
};

/* Freed by its owner or by the last worker, whoever is later. */
struct wr_redis_resolver {
    struct wr_mutex mu;
    /* under mu */
    struct wr_redis_lookup *pending; /* owned; those that nobody has answered */
    struct worker *workers;
    size_t n_workers;
    bool is_closed;
};

/* Pending first, then a job on its way to the loop that asked, which frees it. */
struct wr_redis_lookup {
    struct wr_redis_job job;
    struct wr_redis_resolver *resolver; /* borrowed */
    struct wr_redis_loop *loop;         /* borrowed; that asked */
    wr_redis_resolved_fn done;
    void *context;
    struct name name;
    struct answer answer;
    bool is_cancelled; /* on its way; of the loop's thread */
    struct wr_redis_lookup *next;
};

enum wr_err wr_redis_resolver_new(struct wr_redis_resolver **out_resolver)
{
    struct wr_redis_resolver *const resolver = calloc(1, sizeof *resolver);

    if (resolver == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    wr_mutex_init(&resolver->mu, WR_LOCK_REDIS_NAMES);
    *out_resolver = resolver;
    return WR_OK;
}

static void free_resolver(struct wr_redis_resolver *resolver)
{
    wr_mutex_fini(&resolver->mu);
    free(resolver);
}

void wr_redis_resolver_destroy(struct wr_redis_resolver *resolver)
{
    if (resolver == NULL) {
        return;
    }
    wr_mutex_lock(&resolver->mu);
    WR_ASSERT(resolver->pending == NULL);
    resolver->is_closed = true;

    const bool is_last = resolver->n_workers == 0;

    wr_mutex_unlock(&resolver->mu);
    if (is_last) {
        free_resolver(resolver);
    }
}

static void add(struct wr_redis_endpoints *endpoints, const void *address, size_t len)
{
    if (endpoints->n < WR_REDIS_ENDPOINTS && len <= sizeof endpoints->items[0].storage) {
        struct wr_redis_endpoint *const endpoint = &endpoints->items[endpoints->n++];

        memcpy(&endpoint->storage, address, len);
        endpoint->len = (socklen_t) len;
    }
}

static void add_path(struct wr_redis_endpoints *endpoints, struct wr_str path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (path.len > 0 && path.len < sizeof address.sun_path) {
        memcpy(address.sun_path, path.ptr, path.len);
        add(endpoints, &address, sizeof address);
    }
}

void wr_redis_resolve_numeric(struct wr_str host, uint16_t port,
                              struct wr_redis_endpoints *out_endpoints)
{
    char text[HOST_MAX + 1];
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    out_endpoints->n = 0;
    if (port == 0) {
        add_path(out_endpoints, host);
        return;
    }
    if (host.len > HOST_MAX) {
        return;
    }
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        add(out_endpoints, &v4, sizeof v4);
    } else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        add(out_endpoints, &v6, sizeof v6);
    }
}

static bool is_same(const struct name *a, const struct name *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* On the loop that asked. */
static void come_back(struct wr_redis_job *job)
{
    struct wr_redis_lookup *const lookup = job->context;

    if (!lookup->is_cancelled) {
        lookup->done(lookup->context, &lookup->answer.endpoints, lookup->answer.why);
    }
    free(lookup);
}

/* ---- workers ---- */

/* Blocks. */
static void look_up(const struct name *name, struct answer *out_answer)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    char port[8];

    (void) snprintf(port, sizeof port, "%u", name->port);

    const int got = getaddrinfo(name->host, port, &hints, &found);

    *out_answer = (struct answer){.why = "the name has no addresses"};
    if (got != 0) {
        out_answer->why = gai_strerror(got);
        return;
    }
    for (const struct addrinfo *info = found; info != NULL; info = info->ai_next) {
        add(&out_answer->endpoints, info->ai_addr, info->ai_addrlen);
    }
    freeaddrinfo(found);
}

/* To all who asked for that name. */
static void tell_locked(struct wr_redis_resolver *resolver, const struct name *name,
                        const struct answer *answer) WR_REQUIRES(resolver->mu)
{
    struct wr_redis_lookup **at = &resolver->pending;

    while (*at != NULL) {
        struct wr_redis_lookup *const lookup = *at;

        if (is_same(&lookup->name, name)) {
            *at = lookup->next;
            lookup->answer = *answer;
            wr_redis_loop_push(lookup->loop, &lookup->job);
        } else {
            at = &lookup->next;
        }
    }
}

static bool is_worked_at_locked(const struct wr_redis_resolver *resolver, const struct name *name)
    WR_REQUIRES(resolver->mu)
{
    for (const struct worker *worker = resolver->workers; worker != NULL; worker = worker->next) {
        if (is_same(&worker->name, name)) {
            return true;
        }
    }
    return false;
}

/* True when it has something else to do. */
static bool go_on_locked(const struct wr_redis_resolver *resolver, struct worker *worker)
    WR_REQUIRES(resolver->mu)
{
    for (const struct wr_redis_lookup *lookup = resolver->pending; lookup != NULL;
         lookup = lookup->next) {
        if (!is_worked_at_locked(resolver, &lookup->name)) {
            worker->name = lookup->name;
            return true;
        }
    }
    return false;
}

static void leave_locked(struct wr_redis_resolver *resolver, struct worker *worker)
    WR_REQUIRES(resolver->mu)
{
    struct worker **at = &resolver->workers;

    while (*at != worker) {
        at = &(*at)->next;
    }
    *at = worker->next;
    resolver->n_workers--;
}

static void work(void *context)
{
    struct worker *const worker = context;
    struct wr_redis_resolver *const resolver = worker->resolver;
    bool goes_on = true;

    /* Whoever has started it is done with it. */
    wr_mutex_lock(&resolver->mu);
    while (goes_on) {
        const struct name name = worker->name;
        struct answer answer;

        wr_mutex_unlock(&resolver->mu);
        look_up(&name, &answer);
        wr_mutex_lock(&resolver->mu);
        tell_locked(resolver, &name, &answer);
        goes_on = go_on_locked(resolver, worker);
    }
    leave_locked(resolver, worker);

    const bool is_last = resolver->is_closed && resolver->n_workers == 0;

    wr_mutex_unlock(&resolver->mu);
    if (is_last) {
        free_resolver(resolver);
    }
    free(worker);
}

/* False when it is impossible. */
static bool start_locked(struct wr_redis_resolver *resolver, const struct name *name)
    WR_REQUIRES(resolver->mu)
{
    struct worker *const worker = calloc(1, sizeof *worker);

    if (worker == NULL) {
        return false;
    }
    worker->resolver = resolver;
    worker->name = *name;
    if (wr_thread_start(&worker->thread, "redis-names", work, worker) != WR_OK) {
        free(worker);
        return false;
    }
    wr_thread_detach(&worker->thread);
    worker->next = resolver->workers;
    resolver->workers = worker;
    resolver->n_workers++;
    return true;
}

/* ---- look-ups ---- */

static void begin(struct wr_redis_lookup *lookup)
{
    struct wr_redis_resolver *const resolver = lookup->resolver;

    wr_mutex_lock(&resolver->mu);

    const bool is_started = !is_worked_at_locked(resolver, &lookup->name) &&
                            resolver->n_workers < WORKERS_MAX &&
                            start_locked(resolver, &lookup->name);

    if (is_started || resolver->n_workers > 0) {
        lookup->next = resolver->pending;
        resolver->pending = lookup;
    } else {
        lookup->answer.why = "the system refuses a thread for the look-up";
        wr_redis_loop_push(lookup->loop, &lookup->job);
    }
    wr_mutex_unlock(&resolver->mu);
}

struct wr_redis_lookup *wr_redis_resolve(struct wr_redis_resolver *resolver,
                                         struct wr_redis_loop *loop, struct wr_str host,
                                         uint16_t port, wr_redis_resolved_fn done, void *context)
{
    struct wr_redis_lookup *const lookup = calloc(1, sizeof *lookup);

    if (lookup == NULL) {
        return NULL;
    }
    *lookup = (struct wr_redis_lookup){
        .job = {.run = come_back, .context = lookup},
        .resolver = resolver,
        .loop = loop,
        .done = done,
        .context = context,
        .name = {.port = port},
    };
    if (host.len <= HOST_MAX && wr_str_find(host, '\0') == host.len) {
        memcpy(lookup->name.host, host.ptr, host.len);
        begin(lookup);
    } else {
        lookup->answer.why = "the name is too long";
        wr_redis_loop_push(loop, &lookup->job);
    }
    return lookup;
}

/* False when it is on its way back. */
static bool withdraw_locked(struct wr_redis_resolver *resolver,
                            const struct wr_redis_lookup *lookup) WR_REQUIRES(resolver->mu)
{
    for (struct wr_redis_lookup **at = &resolver->pending; *at != NULL; at = &(*at)->next) {
        if (*at == lookup) {
            *at = lookup->next;
            return true;
        }
    }
    return false;
}

void wr_redis_lookup_cancel(struct wr_redis_lookup *lookup)
{
    if (lookup == NULL) {
        return;
    }

    struct wr_redis_resolver *const resolver = lookup->resolver;

    wr_mutex_lock(&resolver->mu);

    const bool is_withdrawn = withdraw_locked(resolver, lookup);

    wr_mutex_unlock(&resolver->mu);
    if (is_withdrawn) {
        free(lookup);
    } else {
        lookup->is_cancelled = true;
    }
}
