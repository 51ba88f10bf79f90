/* SPDX-License-Identifier: Apache-2.0 */
#include "redis_choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/backend.h"
#include "store/redis/cluster.h"
#include "store/redis/sentinel.h"
#include "store/redis/single.h"
#include "store/redis/socket.h"
#include "store/redis/store.h"
#include "store/redis/tls.h"

#define SETUP_BYTES 1024
#define PAUSE_MIN_US 10000
#define SECRET_MIN 16
#define SECRET_MAX 4096

static const wr_redis_route_new_fn routes[] = {
    [WR_REDIS_SINGLE] = wr_redis_single_new,
    [WR_REDIS_SENTINEL] = wr_redis_sentinel_new,
    [WR_REDIS_CLUSTER] = wr_redis_cluster_new,
};

static int parse_target(const struct wr_options *options, bool is_per_second,
                        struct wr_arena *arena, struct wr_redis_target *out_target)
{
    char message[WR_REDIS_TARGET_MESSAGE_SIZE];
    const struct wr_redis_target_texts main = {
        .url = options->redis_url,
        .url_option = "--redis-url (REDIS_URL)",
        .topology = options->redis_type,
        .socket_type = options->redis_socket_type,
        .auth = options->redis_auth,
        .sentinel_auth = options->redis_sentinel_auth,
        .has_tls = options->has_redis_tls,
        .has_sentinel_tls = options->has_redis_sentinel_tls,
    };
    const struct wr_redis_target_texts per_second = {
        .url = options->redis_per_second_url,
        .url_option = "--redis-per-second-url (REDIS_PERSECOND_URL)",
        .topology = options->redis_per_second_type,
        .socket_type = options->redis_per_second_socket_type,
        .auth = options->redis_per_second_auth,
        .sentinel_auth = options->redis_per_second_sentinel_auth,
        .has_tls = options->has_redis_per_second_tls,
        .has_sentinel_tls = options->has_redis_sentinel_tls,
    };
    const enum wr_err err =
        wr_redis_target_parse(is_per_second ? &per_second : &main, arena, out_target, message);

    if (err == WR_ERR_INVALID) {
        wr_log(WR_LOG_ERROR, "%s", message);
        return EX_USAGE;
    }
    if (err != WR_OK) {
        wr_log(WR_LOG_ERROR, "the store could not be set up: %s", wr_err_text(err));
        return EX_OSERR;
    }
    return EX_OK;
}

/* An editor's line feed at the end of a secret is no part of it. No buffer keeps a copy. */
static size_t read_secret(FILE *file, char secret[SECRET_MAX + 1])
{
    (void) setvbuf(file, NULL, _IONBF, 0);

    size_t n = fread(secret, 1, SECRET_MAX + 1, file);

    while (n > 0 && (secret[n - 1] == '\n' || secret[n - 1] == '\r')) {
        n--;
    }
    return n;
}

/* `secret` is room for what the file holds. */
static int derive_key_in(char secret[SECRET_MAX + 1], const char *path, struct wr_hash_key *out_key)
{
    FILE *const file = fopen(path, "rb");

    if (file == NULL) {
        wr_log(WR_LOG_ERROR, "--redis-key-secret-file %s cannot be read: %s", path,
               strerror(errno));
        return EX_NOINPUT;
    }

    const size_t n = read_secret(file, secret);

    (void) fclose(file);
    if (n < SECRET_MIN || n > SECRET_MAX) {
        wr_log(WR_LOG_ERROR,
               "--redis-key-secret-file %s holds %s; allowed are %d to %d bytes, as "
               "`head -c 32 /dev/urandom | base64` writes",
               path, n < SECRET_MIN ? "too little" : "too much", SECRET_MIN, SECRET_MAX);
        return EX_DATAERR;
    }
    return wr_hash_key_derive((struct wr_str){.ptr = secret, .len = n}, out_key) == WR_OK
               ? EX_OK
               : EX_OSERR;
}

static int derive_key(const char *path, struct wr_hash_key *out_key)
{
    char secret[SECRET_MAX + 1];
    const int code = derive_key_in(secret, path, out_key);

    wr_secret_wipe(secret, sizeof secret);
    return code;
}

static int choose_keys(const struct wr_options *options, struct wr_redis_key_style *out_style)
{
    static const char default_prefix[] = "weir:";
    struct wr_redis_key_style style = {
        .form = options->has_redis_key_hash ? WR_REDIS_KEY_HASHED : options->redis_key_form,
        .prefix = wr_str_of(options->redis_key_prefix),
    };
    const bool is_default = strcmp(options->redis_key_prefix, default_prefix) == 0;

    /* The incumbent has none unless told. */
    if (style.form == WR_REDIS_KEY_REFERENCE && is_default) {
        style.prefix = (struct wr_str){.ptr = default_prefix, .len = 0};
    }

    const int code = style.form == WR_REDIS_KEY_HASHED
                         ? derive_key(options->redis_key_secret_file, &style.secret)
                         : EX_OK;

    *out_style = style;
    return code;
}

/* What protects the links that `target` says have TLS; NULL: none has. */
static int make_security(const struct wr_store_frame *frame, const struct wr_redis_target *target,
                         struct wr_redis_security **out_security)
{
    const struct wr_options *const options = frame->options;
    char message[WR_REDIS_TLS_MESSAGE_SIZE];
    const struct wr_redis_tls_options tls = {
        .files = {.ca = options->redis_tls_ca,
                  .cert = options->redis_tls_cert,
                  .key = options->redis_tls_key},
        .server_name = options->redis_tls_server_name,
        .has_any_name = options->has_redis_any_name,
        .metrics = frame->metrics,
    };

    *out_security = NULL;
    if (target->has_tls || target->has_sentinel_tls) {
        const enum wr_err err = wr_redis_tls_new(&tls, out_security, message);

        if (err != WR_OK) {
            wr_log(WR_LOG_ERROR, "%s", message);
        }
        return err == WR_OK ? EX_OK : err == WR_ERR_INVALID ? EX_USAGE : EX_OSERR;
    }
    if (tls.files.ca[0] != '\0' || tls.files.cert[0] != '\0') {
        wr_log(WR_LOG_WARN, "certificates for Redis are given, yet TLS is not asked for: they have "
                            "no effect on a connection without it; --redis-tls (REDIS_TLS), or a "
                            "URL that begins with rediss://, asks for it");
    }
    return EX_OK;
}

static int make(const struct wr_store_frame *frame, bool is_per_second, struct wr_arena *arena,
                struct wr_backend **out_backend)
{
    const struct wr_options *const options = frame->options;
    struct wr_redis_store_options store = {
        .setup = arena,
        .timeout_us = options->redis_timeout_us,
        .limits = {.connect_timeout_us = options->redis_connect_timeout_us,
                   .slow_us = options->redis_timeout_us,
                   .pause_min_us = PAUSE_MIN_US,
                   .pause_max_us = options->redis_pause_max_us,
                   .breaker_timeouts = (uint32_t) options->redis_breaker_timeouts},
        .n_threads = (size_t) options->redis_io_threads,
        .metrics = frame->metrics,
        .replicas = options->replicas == 0 && !is_per_second ? frame->replicas : NULL,
        .on_reachable = is_per_second ? frame->on_per_second_reachable : frame->on_reachable,
        .context = frame->context,
    };
    int code = parse_target(options, is_per_second, arena, &store.target);

    if (code == EX_OK) {
        code = choose_keys(options, &store.keys);
    }
    if (code == EX_OK) {
        code = make_security(frame, &store.target, &store.security);
    }
    if (code != EX_OK) {
        return code;
    }

    store.new_route = routes[store.target.topology];

    const enum wr_err err = wr_redis_store_new(&store, out_backend);

    if (err != WR_OK) {
        if (store.security != NULL) {
            store.security->destroy(store.security);
        }
        wr_log(WR_LOG_ERROR, "the store could not be set up: %s", wr_err_text(err));
        return EX_OSERR;
    }
    return EX_OK;
}

int wr_redis_choose(const struct wr_store_frame *frame, bool is_per_second,
                    struct wr_backend **out_backend)
{
    struct wr_arena arena;

    wr_arena_init(&arena, SETUP_BYTES);

    const int code = make(frame, is_per_second, &arena, out_backend);

    wr_arena_fini(&arena);
    return code;
}
