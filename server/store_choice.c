/* SPDX-License-Identifier: Apache-2.0 */
#include "store_choice.h"

#include <sysexits.h>

#include "base/arena.h"
#include "base/log.h"
#include "store/backend.h"
#include "store/local_store.h"
#include "store/redis/single.h"
#include "store/redis/store.h"

#define SETUP_BYTES 1024
#define PAUSE_MIN_US 10000

static int fail(enum wr_err err)
{
    wr_log(WR_LOG_ERROR, "the store could not be set up: %s", wr_err_text(err));
    return EX_OSERR;
}

static int new_local(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    const struct wr_local_store_options options = {.max_counters = frame->options->max_counters};
    const enum wr_err err = wr_local_store_new(&options, out_backend);

    return err == WR_OK ? EX_OK : fail(err);
}

static int parse_target(const struct wr_options *options, struct wr_arena *arena,
                        struct wr_redis_target *out_target)
{
    char message[WR_REDIS_TARGET_MESSAGE_SIZE];
    const struct wr_redis_target_texts texts = {
        .url = options->redis_url,
        .url_option = "--redis-url (REDIS_URL)",
        .topology = WR_REDIS_SINGLE,
        .socket_type = options->redis_socket_type,
        .auth = options->redis_auth,
    };
    const enum wr_err err = wr_redis_target_parse(&texts, arena, out_target, message);

    if (err == WR_ERR_INVALID) {
        wr_log(WR_LOG_ERROR, "%s", message);
        return EX_USAGE;
    }
    return err == WR_OK ? EX_OK : fail(err);
}

static int new_redis(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    const struct wr_options *const options = frame->options;
    struct wr_arena arena;
    struct wr_redis_target target;

    wr_arena_init(&arena, SETUP_BYTES);

    const int code = parse_target(options, &arena, &target);

    if (code != EX_OK) {
        wr_arena_fini(&arena);
        return code;
    }

    const struct wr_redis_store_options store = {
        .setup = &arena,
        .target = target,
        .keys = {.form = WR_REDIS_KEY_READABLE,
                 .prefix = wr_str_of(options->redis_key_prefix),
                 .is_domain_slot = options->stops_when_over},
        .new_route = wr_redis_single_new,
        .timeout_us = options->redis_timeout_us,
        .limits = {.connect_timeout_us = options->redis_connect_timeout_us,
                   .probe_slow_us = options->redis_timeout_us,
                   .pause_min_us = PAUSE_MIN_US,
                   .pause_max_us = options->redis_pause_max_us,
                   .breaker_timeouts = (uint32_t) options->redis_breaker_timeouts},
        .n_threads = (size_t) options->redis_io_threads,
        .metrics = frame->metrics,
        .on_reachable = frame->on_reachable,
        .context = frame->context,
    };
    const enum wr_err err = wr_redis_store_new(&store, out_backend);

    wr_arena_fini(&arena);
    return err == WR_OK ? EX_OK : fail(err);
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
