/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "store/redis/loop.h"

/* The longest name of a host, RFC 1035 section 2.3.4. */
#define HOST_MAX 255

struct wr_redis_resolver {
    struct wr_redis_loop *loop; /* owned; its jobs block */
};

/* Goes to the resolver's thread and comes back; the loop that asked owns it. */
struct wr_redis_lookup {
    struct wr_redis_job job;
    struct wr_redis_loop *loop; /* borrowed; that asked */
    wr_redis_resolved_fn done;
    void *context;
    char host[HOST_MAX + 1];
    uint16_t port;
    atomic_bool is_cancelled; /* relaxed: the resolver only saves itself work by it */
    struct wr_redis_endpoints endpoints;
    const char *why;
};

enum wr_err wr_redis_resolver_new(struct wr_redis_resolver **out_resolver)
{
    struct wr_redis_resolver *const resolver = calloc(1, sizeof *resolver);

    if (resolver == NULL) {
        return WR_ERR_NO_MEMORY;
    }

    enum wr_err err = wr_redis_loop_new("redis-names", NULL, &resolver->loop);

    if (err == WR_OK) {
        err = wr_redis_loop_start(resolver->loop);
    }
    if (err != WR_OK) {
        wr_redis_resolver_destroy(resolver);
        return err;
    }
    *out_resolver = resolver;
    return WR_OK;
}

void wr_redis_resolver_destroy(struct wr_redis_resolver *resolver)
{
    if (resolver == NULL) {
        return;
    }
    if (resolver->loop != NULL) {
        wr_redis_loop_stop(resolver->loop);
        wr_redis_loop_destroy(resolver->loop);
    }
    free(resolver);
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

/* On the loop that asked. */
static void come_back(struct wr_redis_job *job)
{
    struct wr_redis_lookup *const lookup = job->context;

    if (!atomic_load_explicit(&lookup->is_cancelled, memory_order_relaxed)) {
        lookup->done(lookup->context, &lookup->endpoints, lookup->why);
    }
    free(lookup);
}

static void look_up(struct wr_redis_lookup *lookup)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    char port[8];

    (void) snprintf(port, sizeof port, "%u", lookup->port);

    const int got = getaddrinfo(lookup->host, port, &hints, &found);

    if (got != 0) {
        lookup->why = gai_strerror(got);
        return;
    }
    for (const struct addrinfo *info = found; info != NULL; info = info->ai_next) {
        add(&lookup->endpoints, info->ai_addr, info->ai_addrlen);
    }
    freeaddrinfo(found);
    lookup->why = "the name has no addresses";
}

/* On the resolver's thread. */
static void work(struct wr_redis_job *job)
{
    struct wr_redis_lookup *const lookup = job->context;

    if (!atomic_load_explicit(&lookup->is_cancelled, memory_order_relaxed)) {
        look_up(lookup);
    }
    job->run = come_back;
    wr_redis_loop_push(lookup->loop, job);
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
        .job = {.run = work, .context = lookup},
        .loop = loop,
        .done = done,
        .context = context,
        .port = port,
        .why = "the name is too long",
    };
    if (host.len <= HOST_MAX && memchr(host.ptr, '\0', host.len) == NULL) {
        memcpy(lookup->host, host.ptr, host.len);
        wr_redis_loop_push(resolver->loop, &lookup->job);
    } else {
        lookup->job.run = come_back;
        wr_redis_loop_push(loop, &lookup->job);
    }
    return lookup;
}

void wr_redis_lookup_cancel(struct wr_redis_lookup *lookup)
{
    if (lookup != NULL) {
        atomic_store_explicit(&lookup->is_cancelled, true, memory_order_relaxed);
    }
}
