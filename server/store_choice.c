/* SPDX-License-Identifier: Apache-2.0 */
#include "store_choice.h"

#include <sysexits.h>

#include "base/log.h"
#include "redis_choice.h"
#include "store/backend.h"
#include "store/fallback_store.h"
#include "store/local_store.h"
#include "store/over_limit_cache.h"
#include "store/split_store.h"

/* EX_OSERR after a message when `err` says so. */
static int code_of(enum wr_err err)
{
    if (err == WR_OK) {
        return EX_OK;
    }
    wr_log(WR_LOG_ERROR, "the store could not be set up: %s", wr_err_text(err));
    return EX_OSERR;
}

static int new_local(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    const struct wr_local_store_options options = {.max_counters = frame->options->max_counters};

    return code_of(wr_local_store_new(&options, out_backend));
}

/* The steps below put a store around `*backend`, which stays as it was when they fail. */

/* Puts beside it a store of its own for limits of a second. */
static int add_per_second(const struct wr_store_frame *frame, struct wr_backend **backend)
{
    struct wr_backend *per_second = NULL;
    int code = wr_redis_choose(frame, true, &per_second);

    if (code != EX_OK) {
        return code;
    }
    if (frame->options->stops_when_over) {
        wr_log(WR_LOG_WARN, "--redis-per-second has no use with --stop-increment-when-over-limit: "
                            "what stops together is counted in the main Redis");
    }
    code = code_of(wr_split_store_new(backend, &per_second, backend));
    wr_backend_destroy(per_second);
    return code;
}

/* Puts memory behind it, for takes whose failure mode is local. */
static int add_fallback(const struct wr_store_frame *frame, struct wr_backend **backend)
{
    const struct wr_fallback_options options = {.replicas = frame->replicas,
                                                .metrics = frame->metrics};
    struct wr_backend *local = NULL;
    int code = new_local(frame, &local);

    if (code == EX_OK) {
        code = code_of(wr_fallback_store_new(&options, backend, &local, backend));
    }
    wr_backend_destroy(local);
    return code;
}

/* A call is given so long, and no more of Redis's time, which is known to within a call's way. */
#define TIMEOUTS_OF_FLIGHT 2

/* Puts before it what remembers who is over. */
static int add_cache(const struct wr_store_frame *frame, struct wr_backend **backend)
{
    const struct wr_over_limit_cache_options options = {
        .max_entries =
            (size_t) (frame->options->over_limit_cache_bytes / WR_OVER_LIMIT_ENTRY_BYTES),
        .flight_us = TIMEOUTS_OF_FLIGHT * frame->options->redis_timeout_us,
        .clock = frame->clock,
    };

    return options.max_entries == 0 ? EX_OK
                                    : code_of(wr_over_limit_cache_new(&options, backend, backend));
}

/* From the inside out: main and per-second store, memory behind both, what is over before all. */
static int new_redis(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    struct wr_backend *backend = NULL;
    int code = wr_redis_choose(frame, false, &backend);

    if (code == EX_OK && frame->options->has_redis_per_second) {
        code = add_per_second(frame, &backend);
    }
    if (code == EX_OK) {
        code = add_fallback(frame, &backend);
    }
    if (code == EX_OK) {
        code = add_cache(frame, &backend);
    }
    if (code != EX_OK) {
        wr_backend_destroy(backend);
        return code;
    }
    *out_backend = backend;
    return EX_OK;
}

int wr_store_choose(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    switch (frame->options->store) {
    case WR_STORE_REDIS:
        return new_redis(frame, out_backend);
    case WR_STORE_LOCAL:
    default:
        return new_local(frame, out_backend);
    }
}
