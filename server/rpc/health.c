/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health.h"

#include <stdlib.h>

#include "base/lock.h"
#include "rpc/health_names.h"
#include "rpc/health_watchers.h"
#include "wire/health.h"

struct wr_health {
    struct wr_health_watchers *watchers; /* owned */
    struct wr_mutex mutex;
    /* guarded by mutex */
    bool is_serving;
    bool is_draining;
};

static enum wr_serving serving_now(void *context, struct wr_str service)
{
    return wr_health_names_serving(service, wr_health_is_serving(context));
}

struct wr_health *wr_health_new(size_t max_watchers)
{
    struct wr_health *const health = calloc(1, sizeof *health);

    if (health == NULL) {
        return NULL;
    }
    health->watchers = wr_health_watchers_new(max_watchers, serving_now, health);
    if (health->watchers == NULL) {
        free(health);
        return NULL;
    }
    wr_mutex_init(&health->mutex, WR_LOCK_HEALTH);
    return health;
}

void wr_health_destroy(struct wr_health *health)
{
    if (health == NULL) {
        return;
    }
    wr_health_watchers_destroy(health->watchers);
    wr_mutex_fini(&health->mutex);
    free(health);
}

bool wr_health_is_serving(struct wr_health *health)
{
    wr_mutex_lock(&health->mutex);

    const bool is_serving = health->is_serving;

    wr_mutex_unlock(&health->mutex);
    return is_serving;
}

void wr_health_set(struct wr_health *health, bool is_serving)
{
    wr_mutex_lock(&health->mutex);

    const bool is_new = !health->is_draining && health->is_serving != is_serving;

    if (is_new) {
        health->is_serving = is_serving;
    }
    wr_mutex_unlock(&health->mutex);
    if (is_new) {
        wr_health_watchers_changed(health->watchers);
    }
}

void wr_health_drain(struct wr_health *health)
{
    wr_mutex_lock(&health->mutex);
    health->is_draining = true;
    health->is_serving = false;
    wr_mutex_unlock(&health->mutex);
    wr_health_watchers_changed(health->watchers);
}

void wr_health_finish_watchers(struct wr_health *health)
{
    wr_health_watchers_finish(health->watchers);
}

static void fail(struct wr_call *call, enum wr_status status, const char *text)
{
    call->ops->finish(call, status, wr_str_of(text), (struct wr_str){0});
}

static void fail_for(struct wr_call *call, enum wr_err err)
{
    if (err == WR_ERR_MALFORMED) {
        fail(call, WR_STATUS_INVALID_ARGUMENT, "the message is not a HealthCheckRequest");
    } else if (err == WR_ERR_TOO_LARGE) {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED,
             "the message is larger than any that asks for health");
    } else {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
}

/* False when the call was answered with an error. */
static bool read_service(struct wr_call *call, struct wr_str message, struct wr_str *out_service)
{
    if (message.ptr == NULL) {
        fail(call, WR_STATUS_INVALID_ARGUMENT, "the call came without a message");
        return false;
    }

    const enum wr_err err = wr_health_request_decode(message, call->arena, out_service);

    if (err != WR_OK) {
        fail_for(call, err);
    }
    return err == WR_OK;
}

static void check(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_str service = {0}, answer = {0};

    wr_metrics_add(call->metrics, WR_METRIC_HEALTH_CALLS, 1);
    if (!read_service(call, message, &service)) {
        return;
    }

    const enum wr_serving serving = serving_now(context, service);

    if (serving == WR_SERVING_SERVICE_UNKNOWN) {
        fail(call, WR_STATUS_NOT_FOUND, "no such service here; List tells which there are");
    } else if (!wr_health_response_encode(serving, call->arena, &answer)) {
        fail_for(call, WR_ERR_NO_MEMORY);
    } else {
        call->ops->reply(call, answer);
    }
}

static void list(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_health_row rows[WR_HEALTH_NAMES];
    struct wr_str answer = {0};

    (void) message; /* has no fields */
    wr_metrics_add(call->metrics, WR_METRIC_HEALTH_CALLS, 1);
    wr_health_names_rows(wr_health_is_serving(context), rows);
    if (!wr_health_list_encode(rows, WR_HEALTH_NAMES, call->arena, &answer)) {
        fail_for(call, WR_ERR_NO_MEMORY);
    } else {
        call->ops->reply(call, answer);
    }
}

static void watch(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_health *const health = context;
    struct wr_str service = {0};

    if (call->state != NULL) {
        return; /* a half-close, or a message too many */
    }
    wr_metrics_add(call->metrics, WR_METRIC_HEALTH_CALLS, 1);
    if (read_service(call, message, &service)) {
        wr_health_watchers_add(health->watchers, call, service);
    }
}

static void watch_woken(void *context, struct wr_call *call)
{
    struct wr_health *const health = context;

    wr_health_watchers_turn(health->watchers, call);
}

static void watch_closed(void *context, struct wr_call *call, bool is_cancelled)
{
    struct wr_health *const health = context;

    (void) is_cancelled;
    wr_health_watchers_leave(health->watchers, call);
}

void wr_health_methods(struct wr_health *health, struct wr_method out_methods[WR_HEALTH_METHODS])
{
    out_methods[0] = (struct wr_method){
        .path = "/grpc.health.v1.Health/Check",
        .kind = WR_METHOD_UNARY,
        .context = health,
        .on_message = check,
    };
    out_methods[1] = (struct wr_method){
        .path = "/grpc.health.v1.Health/List",
        .kind = WR_METHOD_UNARY,
        .context = health,
        .on_message = list,
    };
    out_methods[2] = (struct wr_method){
        .path = "/grpc.health.v1.Health/Watch",
        .kind = WR_METHOD_STREAM,
        .context = health,
        .on_message = watch,
        .on_wake = watch_woken,
        .on_close = watch_closed,
    };
}
