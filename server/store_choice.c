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

/* EX_OSERR after a message; what was made so far goes. */
static int fail(enum wr_err err, struct wr_backend *made)
{
    wr_log(WR_LOG_ERROR, "the store could not be set up: %s", wr_err_text(err));
    wr_backend_destroy(made);
    return EX_OSERR;
}

static int new_local(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    const struct wr_local_store_options options = {.max_counters = frame->options->max_counters};
    const enum wr_err err = wr_local_store_new(&options, out_backend);

    return err == WR_OK ? EX_OK : fail(err, NULL);
}

/* Puts beside `*backend` a store of its own for limits of a second. */
static int add_per_second(const struct wr_store_frame *frame, struct wr_backend **backend)
{
    struct wr_backend *per_second = NULL;
    struct wr_backend *main = *backend;
    const int code = wr_redis_choose(frame, true, &per_second);

    if (code != EX_OK) {
        wr_backend_destroy(main);
        return code;
    }
    if (frame->options->stops_when_over) {
        wr_log(WR_LOG_WARN, "--redis-per-second has no use with --stop-increment-when-over-limit: "
                            "what stops together is counted in the main Redis");
    }

    const enum wr_err err = wr_split_store_new(&main, &per_second, backend);

    if (err != WR_OK) {
        wr_backend_destroy(per_second);
        return fail(err, main);
    }
    return EX_OK;
}

/* Puts memory behind `*backend`, for takes whose failure mode is local. */
static int add_fallback(const struct wr_store_frame *frame, struct wr_backend **backend)
{
    const struct wr_fallback_options options = {.replicas = frame->replicas,
                                                .metrics = frame->metrics};
    struct wr_backend *local = NULL;
    struct wr_backend *remote = *backend;
    const int code = new_local(frame, &local);

    if (code != EX_OK) {
        wr_backend_destroy(remote);
        return code;
    }

    const enum wr_err err = wr_fallback_store_new(&options, &remote, &local, backend);

    if (err != WR_OK) {
        wr_backend_destroy(local);
        return fail(err, remote);
    }
    return EX_OK;
}

/* A call is given so long, and no more of Redis's time, which is known to within a call's way. */
#define TIMEOUTS_OF_FLIGHT 2

static int add_cache(const struct wr_store_frame *frame, struct wr_backend **backend)
{
    const struct wr_over_limit_cache_options options = {
        .max_entries =
            (size_t) (frame->options->over_limit_cache_bytes / WR_OVER_LIMIT_ENTRY_BYTES),
        .flight_us = TIMEOUTS_OF_FLIGHT * frame->options->redis_timeout_us,
        .clock = frame->clock,
    };
    struct wr_backend *inner = *backend;

    if (options.max_entries == 0) {
        return EX_OK;
    }

    const enum wr_err err = wr_over_limit_cache_new(&options, &inner, backend);

    return err == WR_OK ? EX_OK : fail(err, inner);
}

/* From the inside out: main and per-second store, memory behind both, what is over before all. */
static int new_redis(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    int code = wr_redis_choose(frame, false, out_backend);

    if (code == EX_OK && frame->options->has_redis_per_second) {
        code = add_per_second(frame, out_backend);
    }
    if (code == EX_OK) {
        code = add_fallback(frame, out_backend);
    }
    if (code == EX_OK) {
        code = add_cache(frame, out_backend);
    }
    if (code != EX_OK) {
        *out_backend = NULL;
    }
    return code;
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
