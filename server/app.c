/* SPDX-License-Identifier: Apache-2.0 */
#include "app.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cores.h"
#include "drain.h"
#include "listeners.h"
#include "memory.h"
#include "metrics/metrics.h"
#include "readiness.h"
#include "rpc/acceptor.h"
#include "rpc/decide.h"
#include "rpc/grpc/server.h"
#include "rpc/health.h"
#include "rpc/listen.h"
#include "rpc/reflection.h"
#include "rules/current.h"
#include "rules_feed.h"
#include "rules_source.h"
#include "service/service.h"
#include "store/backend.h"
#include "wire/reflection.h"

#define MAX_NOTES 100
#define MAX_WATCHERS 1000
#define TAKES_DEFAULT 2048
#define TAKES_DEFAULT_REDIS 256
/* Some 20 for the server itself, and as many for connections. */
#define LEAST_DESCRIPTORS 48
#define N_METHODS (1 + WR_HEALTH_METHODS + WR_REFLECTION_METHODS)

struct wr_app {
    const struct wr_options *options; /* borrowed */
    struct wr_settings settings;
    struct wr_rules_source source;
    struct wr_clock clock;
    struct wr_current_rules rules;
    struct wr_service service;
    struct wr_decide decide;
    struct wr_method methods[N_METHODS];
    struct wr_readiness readiness;
    _Atomic uint32_t replicas; /* that share limits, as the store has learnt */
    /* owned; NULL until made */
    struct wr_metrics *metrics;
    struct wr_backend *backend;
    struct wr_health *health;
    struct wr_descriptor_pool *pool;
    struct wr_grpc_server *server;
    struct wr_listen *listen;
    struct wr_acceptor *acceptor;
    struct wr_rules_feed feed;
    bool has_service; /* service is set up */
};

static int fail(int code, const char *what)
{
    wr_log(WR_LOG_ERROR, "%s", what);
    return code;
}

/* In memory two limits for each of as many descriptors as the default allows; and whoever allows
 * more descriptors has one for each. Redis must have judged them within the default timeout, while
 * others wait for it. */
static size_t max_takes_of(const struct wr_options *options)
{
    if (options->max_takes != 0) {
        return (size_t) options->max_takes;
    }
    if (options->store == WR_STORE_REDIS) {
        return TAKES_DEFAULT_REDIS;
    }
    return options->max_descriptors > TAKES_DEFAULT ? (size_t) options->max_descriptors
                                                    : TAKES_DEFAULT;
}

static struct wr_settings settings_of(const struct wr_options *options)
{
    return (struct wr_settings){
        .has_shadow_mode = options->has_shadow_mode,
        .has_quota_mode = options->has_quota_mode,
        .has_response_headers = options->has_response_headers,
        .has_dynamic_metadata = options->has_dynamic_metadata,
        .limit_header = wr_str_of(options->limit_header),
        .remaining_header = wr_str_of(options->remaining_header),
        .reset_header = wr_str_of(options->reset_header),
        .failure_mode = options->failure_mode,
        .degraded_header = wr_str_of(options->degraded_header),
        .stops_when_over = options->stops_when_over,
        .max_takes = max_takes_of(options),
    };
}

/* Behind each publication of rules. */
static void on_rules(void *context)
{
    struct wr_app *const app = context;

    wr_readiness_set(&app->readiness, WR_READY_RULES, true);
}

/* From threads of the store. */
static void on_per_second_store(void *context, bool is_reachable)
{
    struct wr_app *const app = context;

    wr_readiness_set(&app->readiness, WR_READY_PER_SECOND, is_reachable);
}

static void on_store(void *context, bool is_reachable)
{
    struct wr_app *const app = context;

    wr_readiness_set(&app->readiness, WR_READY_STORE, is_reachable);
}

static int load_first_rules(struct wr_app *app)
{
    const struct wr_rules_feed_frame frame = {
        .options = app->options,
        .source = &app->source,
        .current = &app->rules,
        .metrics = app->metrics,
        .on_rules = on_rules,
        .context = app,
    };

    return wr_rules_feed_open(&app->feed, &frame);
}

static size_t n_workers(const struct wr_app *app)
{
    return app->options->workers != 0 ? (size_t) app->options->workers : wr_cores_usable();
}

static int make_parts(struct wr_app *app, wr_backend_new_fn new_backend)
{
    app->settings = settings_of(app->options);
    app->metrics = wr_metrics_new();
    app->health = wr_health_new(MAX_WATCHERS);
    if (app->metrics == NULL || app->health == NULL ||
        wr_descriptor_pool_new(&app->pool) != WR_OK) {
        return fail(EX_OSERR, "the server could not be set up: out of memory");
    }
    wr_clock_init(&app->clock, NULL, NULL);
    wr_metrics_bind(app->metrics, WR_METRIC_CLOCK_STEPS_BACK, &app->clock.steps_back);
    wr_metrics_bind(app->metrics, WR_METRIC_CLOCK_STEPS_TAKEN, &app->clock.steps_taken);

    wr_readiness_init(&app->readiness, app->health);
    wr_readiness_set(&app->readiness, WR_READY_STORE,
                     app->options->store == WR_STORE_LOCAL || !app->options->has_store_health);
    wr_readiness_set(&app->readiness, WR_READY_PER_SECOND,
                     app->options->store == WR_STORE_LOCAL || !app->options->has_store_health ||
                         !app->options->has_redis_per_second);
    atomic_init(&app->replicas, (uint32_t) app->options->replicas);

    const struct wr_store_frame frame = {
        .options = app->options,
        .metrics = app->metrics,
        .clock = &app->clock,
        .replicas = &app->replicas,
        .on_reachable = app->options->has_store_health ? on_store : NULL,
        .on_per_second_reachable = app->options->has_store_health ? on_per_second_store : NULL,
        .context = app,
    };

    return new_backend(&frame, &app->backend);
}

static void fill_methods(struct wr_app *app)
{
    app->decide = (struct wr_decide){
        .service = &app->service,
        .clock = &app->clock,
        .caps = {.max_descriptors = (size_t) app->options->max_descriptors,
                 .max_entries = (size_t) app->options->max_entries},
    };
    app->methods[0] = wr_decide_method(&app->decide);
    wr_health_methods(app->health, app->methods + 1);
    wr_reflection_methods(app->pool, app->methods + 1 + WR_HEALTH_METHODS);
}

static int start_server(struct wr_app *app)
{
    const struct wr_service_options service = {
        .settings = &app->settings,
        .rules = &app->rules,
        .backend = app->backend,
        .n_workers = n_workers(app),
    };

    if (wr_service_init(&app->service, &service) != WR_OK) {
        return fail(EX_OSERR, "the service could not be set up: out of memory");
    }
    app->has_service = true;
    fill_methods(app);

    const struct wr_grpc_options server = {
        .table = {.methods = app->methods, .n_methods = N_METHODS},
        .metrics = app->metrics,
        .n_workers = service.n_workers,
        .slots_per_worker = (size_t) app->options->slots,
        .max_message_bytes = (size_t) app->options->max_message_bytes,
        .max_concurrent_streams = (size_t) app->options->max_streams,
        .max_buffer_bytes = (size_t) app->options->max_buffer_bytes,
        .max_connection_age_us = app->options->max_connection_age_us,
        .max_connection_age_grace_us = app->options->max_connection_age_grace_us,
    };

    if (wr_grpc_server_new(&server, &app->server) != WR_OK ||
        wr_grpc_server_start(app->server) != WR_OK) {
        return fail(EX_OSERR, "the gRPC server could not be started: out of memory or threads");
    }
    return EX_OK;
}

static void adopt(void *context, int fd)
{
    wr_grpc_server_adopt(context, fd);
}

/* The rest is for what comes between two looks, and while those cut off are cleaned up. */
static uint64_t max_memory_bytes(const struct wr_app *app)
{
    const uint64_t chosen = app->options->max_memory_bytes;

    return chosen != 0 ? chosen : wr_memory_usable() / 3 * 2;
}

static int start_accepting(struct wr_app *app)
{
    const struct wr_acceptor_options options = {
        .listen = app->listen,
        .max_connections = (size_t) app->options->max_connections,
        .handshake_timeout_us = app->options->handshake_timeout_us,
        .max_memory_bytes = max_memory_bytes(app),
        .adopt = adopt,
        .context = app->server,
        .metrics = app->metrics,
    };

    if (wr_acceptor_new(&options, &app->acceptor) != WR_OK ||
        wr_acceptor_start(app->acceptor) != WR_OK) {
        return fail(EX_OSERR, "the acceptor could not be started: out of memory or threads");
    }
    return EX_OK;
}

/* Descriptors up to what the system allows this process: the default soft limit is small. False
 * when that is too few to serve with. */
static bool raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return true;
    }
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < LEAST_DESCRIPTORS) {
        wr_log(WR_LOG_ERROR,
               "the limit on open files is %llu, and the server needs %d at least: raise it "
               "(ulimit -n)",
               (unsigned long long) limit.rlim_cur, LEAST_DESCRIPTORS);
        return false;
    }
    return true;
}

static sigset_t end_signals(void)
{
    sigset_t set;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGTERM);
    (void) sigaddset(&set, SIGINT);
    return set;
}

static sigset_t awaited_signals(void)
{
    sigset_t set = end_signals();

    (void) sigaddset(&set, SIGHUP);
    return set;
}

/* Waits for the end; SIGHUP has the rule files looked at. */
static void wait_for_end(struct wr_app *app)
{
    const sigset_t set = awaited_signals();
    struct wr_log_limit hangups = {0};

    for (;;) {
        const int got = sigwaitinfo(&set, NULL);

        if (got == SIGHUP) {
            uint64_t skipped;

            wr_rules_feed_look(
                &app->feed,
                wr_log_limit_pass(&hangups, wr_clock_read(&app->clock).mono_us, &skipped));
        } else if (got > 0) {
            wr_log(WR_LOG_INFO, "%s: draining", got == SIGTERM ? "SIGTERM" : "SIGINT");
            return;
        }
    }
}

static void end_at_once(int number)
{
    _exit(128 + number);
}

/* From here on a signal ends the process at once: whoever sends a second one means it. A handler
 * and not the default action, which the kernel leaves out for the first process of a container. */
static void let_signals_kill(void)
{
    const struct sigaction action = {.sa_handler = end_at_once};
    const sigset_t set = end_signals();

    (void) sigaction(SIGTERM, &action, NULL);
    (void) sigaction(SIGINT, &action, NULL);
    (void) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void drain(struct wr_app *app)
{
    const struct wr_drain drain = {
        .health = app->health,
        .acceptor = app->acceptor,
        .listen = &app->listen,
        .server = app->server,
        .metrics = app->metrics,
        .delay_us = app->options->drain_delay_us,
        .timeout_us = app->options->drain_timeout_us,
        .max_connection_age_us = app->options->max_connection_age_us,
    };

    wr_drain_run(&drain);
    wr_rules_feed_stop(&app->feed);
}

static void free_parts(struct wr_app *app)
{
    wr_rules_feed_close(&app->feed);
    wr_acceptor_destroy(app->acceptor);
    wr_listen_close(app->listen);
    wr_grpc_server_destroy(app->server);
    if (app->has_service) {
        wr_service_fini(&app->service);
    }
    wr_backend_destroy(app->backend);
    wr_health_destroy(app->health);
    wr_descriptor_pool_destroy(app->pool);
    wr_current_rules_fini(&app->rules);
    wr_metrics_destroy(app->metrics);
}

static int serve(struct wr_app *app, wr_backend_new_fn new_backend)
{
    int code = EX_OK;

    if ((code = wr_listeners_open(app->options, &app->listen)) != EX_OK ||
        (code = make_parts(app, new_backend)) != EX_OK || (code = load_first_rules(app)) != EX_OK ||
        (code = start_server(app)) != EX_OK || (code = start_accepting(app)) != EX_OK ||
        (code = wr_rules_feed_start(&app->feed)) != EX_OK ||
        (code = wr_listeners_announce(app->options, app->listen)) != EX_OK) {
        return code;
    }
    wait_for_end(app);
    let_signals_kill();
    drain(app);
    wr_log(WR_LOG_INFO, "drained; the end");
    return EX_OK;
}

int wr_app_run(const struct wr_options *options, wr_backend_new_fn new_backend)
{
    const sigset_t set = awaited_signals();
    struct wr_app *const app = calloc(1, sizeof *app);

    if (app == NULL) {
        return fail(EX_OSERR, "the server could not be set up: out of memory");
    }
    app->options = options;
    wr_log_set_level(options->log_level);
    (void) pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void) signal(SIGPIPE, SIG_IGN);
    wr_current_rules_init(&app->rules);

    int code = EX_USAGE;

    if (!raise_descriptor_limit()) {
        code = EX_OSERR;
    } else if (wr_rules_source_init(&app->source, options, stderr)) {
        code = serve(app, new_backend);
    }
    free_parts(app);
    free(app);
    return code;
}
