/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that connect by one TLS security of the Redis store, while the file with its CA is
 * replaced again and again, now and then by one that is no good: every handshake comes to its end,
 * and changes come into use.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "metrics/metrics.h"
#include "store/redis/socket.h"
#include "store/redis/tls.h"
#include "tests/stress/crew.h"
#include "tests/support/certificates.h"
#include "tests/support/tls_peer.h"

#define HOST "redis.example"

enum {
    CONNECTORS = 4,
    CONNECTIONS = 100, /* each */
    MAX_STEPS = 100,
};

struct shared {
    char folder[64], ca[96], fresh[96];
    struct certificate authority, server;
    struct wr_redis_security *security;
    _Atomic unsigned n_busy; /* relaxed: only ends the replacing */
    uint64_t n_replaced;
};

/* One connection: a handshake, and a byte there and back. */
static void connect_once(struct shared *shared, struct tls_peer *peer)
{
    const char *reason = "";
    const int fd = tls_peer_connect(peer);
    struct wr_redis_layer *const layer =
        shared->security->wrap(shared->security, fd, (struct wr_str) WR_STR(HOST), &reason);
    enum wr_redis_io io = WR_REDIS_IO_WANT_READ;
    size_t n = 0;
    char byte = 'x';

    if (layer == NULL) {
        wr_check(false, "no layer: %s", reason);
        return;
    }
    for (int i = 0; i < MAX_STEPS && io == WR_REDIS_IO_WANT_READ; i++) {
        io = layer->ops->handshake(layer);
        tls_peer_step(peer);
    }
    wr_check(io == WR_REDIS_IO_DONE, "no handshake: %s", layer->ops->reason(layer));
    wr_check(layer->ops->write(layer, &byte, 1, &n) == WR_REDIS_IO_DONE, "not written");
    tls_peer_step(peer);
    wr_check(layer->ops->read(layer, &byte, 1, &n) == WR_REDIS_IO_DONE && byte == 'x', "not back");
    layer->ops->destroy(layer);
    (void) close(fd);
}

static void replace(struct shared *shared, bool is_good)
{
    FILE *const out = fopen(shared->fresh, "w");

    wr_check(out != NULL && fputs("no certificate\n", out) >= 0 && fclose(out) == 0,
             "%s cannot be written", shared->fresh);
    if (is_good) {
        certificate_write(&shared->authority, shared->fresh);
    }
    wr_check(rename(shared->fresh, shared->ca) == 0, "%s cannot be replaced", shared->ca);
    shared->n_replaced++;
}

static void member(size_t number, void *context)
{
    struct shared *const shared = context;
    const struct tls_peer_options options = {.certificate = &shared->server};
    struct tls_peer peer;

    if (number == CONNECTORS) {
        while (atomic_load_explicit(&shared->n_busy, memory_order_relaxed) > 0) {
            replace(shared, shared->n_replaced % 4 != 0);
        }
        return;
    }
    tls_peer_init(&peer, &options);
    for (int i = 0; i < CONNECTIONS; i++) {
        connect_once(shared, &peer);
    }
    tls_peer_fini(&peer);
    (void) atomic_fetch_sub_explicit(&shared->n_busy, 1, memory_order_relaxed);
}

static void set_up(struct shared *shared, struct wr_metrics *metrics)
{
    char message[WR_REDIS_TLS_MESSAGE_SIZE] = "";

    wr_check(mkdtemp(shared->folder) != NULL, "no folder");
    (void) snprintf(shared->ca, sizeof shared->ca, "%s/ca.pem", shared->folder);
    (void) snprintf(shared->fresh, sizeof shared->fresh, "%s/fresh.pem", shared->folder);
    shared->authority =
        certificate_make(&(struct certificate_wish){.name = "Test CA", .is_authority = true});
    shared->server = certificate_make(&(struct certificate_wish){
        .name = "redis", .alternatives = "DNS:" HOST, .issuer = &shared->authority});
    certificate_write(&shared->authority, shared->ca);

    const struct wr_redis_tls_options options = {
        .files = {.ca = shared->ca, .cert = "", .key = ""},
        .server_name = "",
        .metrics = metrics,
    };

    wr_check(wr_redis_tls_new(&options, &shared->security, message) == WR_OK, "%s", message);
}

static void tear_down(struct shared *shared)
{
    shared->security->destroy(shared->security);
    certificate_fini(&shared->server);
    certificate_fini(&shared->authority);
    (void) unlink(shared->ca);
    (void) rmdir(shared->folder);
}

int main(void)
{
    struct shared shared = {.folder = "/tmp/weir-tls.XXXXXX", .n_busy = CONNECTORS};
    struct wr_metrics *const metrics = wr_metrics_new();

    (void) signal(SIGPIPE, SIG_IGN);
    wr_log_set_level(WR_LOG_ERROR);
    wr_check(metrics != NULL, "no memory");
    set_up(&shared, metrics);
    wr_crew_run(CONNECTORS + 1, member, &shared);

    const uint64_t n_loads = wr_metrics_sum(metrics, WR_METRIC_REDIS_TLS_LOADS);
    const uint64_t n_errors = wr_metrics_sum(metrics, WR_METRIC_REDIS_TLS_LOAD_ERRORS);

    wr_check(n_loads > 0 && n_errors > 0, "%" PRIu64 " changes came into use, %" PRIu64 " not",
             n_loads, n_errors);
    printf("redis_tls: %d connections, %" PRIu64 " changes of the file, %" PRIu64
           " came into use, %" PRIu64 " were no good\n",
           CONNECTORS * CONNECTIONS, shared.n_replaced, n_loads, n_errors);
    tear_down(&shared);
    wr_metrics_destroy(metrics);
    return 0;
}
