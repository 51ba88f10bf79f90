/* SPDX-License-Identifier: Apache-2.0 */
#include "option_agreement.h"

#include <stddef.h>

#include "option_row.h"

/* 64 MiB: some 30 are resident before the first call. */
#define LEAST_MEMORY_BYTES (64 << 20)

static bool check_redis(const struct wr_options *options, FILE *err)
{
    if (*options->redis_url == '\0') {
        fprintf(err, "weir: --store redis (WEIR_STORE, BACKEND_TYPE) needs --redis-url "
                     "(REDIS_URL): where Redis is\n");
        return false;
    }
    if (options->has_redis_per_second && *options->redis_per_second_url == '\0') {
        fprintf(err, "weir: --redis-per-second (REDIS_PERSECOND) needs --redis-per-second-url "
                     "(REDIS_PERSECOND_URL): where that Redis is\n");
        return false;
    }
    if (options->has_redis_key_hash && *options->redis_key_secret_file == '\0') {
        fprintf(err, "weir: --redis-key-hash (WEIR_REDIS_KEY_HASH) needs --redis-key-secret-file "
                     "(WEIR_REDIS_KEY_SECRET_FILE): a file that all replicas have alike\n");
        return false;
    }
    if (options->has_redis_key_hash && options->redis_key_form == WR_REDIS_KEY_REFERENCE) {
        fprintf(err, "weir: --redis-key-hash (WEIR_REDIS_KEY_HASH) and --redis-keys reference "
                     "(WEIR_REDIS_KEYS) cannot both be: envoyproxy/ratelimit does not hash\n");
        return false;
    }
    return true;
}

static bool check_xds(const struct wr_options *options, FILE *err)
{
    if (options->rules.n > 0) {
        fprintf(err, "weir: --rules (WEIR_RULES) and --rules-source xds (CONFIG_TYPE) cannot both "
                     "be: rules come from files or from a control plane\n");
        return false;
    }
    if ((*options->xds_tls_cert == '\0') != (*options->xds_tls_key == '\0')) {
        fprintf(err, "weir: --xds-tls-cert (CONFIG_GRPC_XDS_CLIENT_TLS_CERT) and --xds-tls-key "
                     "(CONFIG_GRPC_XDS_CLIENT_TLS_KEY) need each other\n");
        return false;
    }
    if (options->xds_pause_min_us > options->xds_pause_max_us) {
        fprintf(err, "weir: --xds-pause-min (XDS_CLIENT_BACKOFF_INITIAL_INTERVAL) is longer than "
                     "--xds-pause-max (XDS_CLIENT_BACKOFF_MAX_INTERVAL)\n");
        return false;
    }
    return true;
}

bool wr_options_agree(const struct wr_options *options, FILE *err)
{
    if (options->failure_mode == WR_FAILURE_LOCAL && options->store == WR_STORE_LOCAL) {
        fprintf(err,
                "weir: --failure-mode local (WEIR_FAILURE_MODE) counts in memory while another "
                "store is away, and means nothing with --store local; allowed: error, allow, "
                "deny\n");
        return false;
    }
    if (options->max_memory_bytes != 0 && options->max_memory_bytes < LEAST_MEMORY_BYTES) {
        fprintf(
            err,
            "weir: --max-memory-bytes (WEIR_MAX_MEMORY_BYTES): less than the server itself needs "
            "would cut off everybody; allowed: 0, or at least %d\n",
            LEAST_MEMORY_BYTES);
        return false;
    }
    return (options->rules_source != WR_RULES_FROM_XDS || check_xds(options, err)) &&
           (options->store != WR_STORE_REDIS || check_redis(options, err));
}

bool wr_options_keep_groups_apart(const struct wr_options *options)
{
    return options->store == WR_STORE_REDIS && options->redis_key_form == WR_REDIS_KEY_REFERENCE &&
           (options->redis_type == WR_REDIS_CLUSTER ||
            (options->has_redis_per_second && options->redis_per_second_type == WR_REDIS_CLUSTER));
}

void wr_options_warn_of_parts(const struct wr_options *options, FILE *err)
{
    if (options->stops_when_over && options->redis_type == WR_REDIS_CLUSTER &&
        wr_options_keep_groups_apart(options)) {
        fprintf(err,
                "weir: warning: --stop-increment-when-over-limit "
                "(STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT) does not hold with --redis-keys "
                "reference (WEIR_REDIS_KEYS) in a cluster: a limit that is over keeps only those "
                "from being charged whose keys lie in its slot; leave --redis-keys out when the "
                "last envoyproxy/ratelimit has gone\n");
    }
}

/* What `use` asks for and is not there; WR_OPTION_USED_ALWAYS: nothing. */
static enum wr_option_use lacking(const struct wr_options *options, enum wr_option_use use)
{
    const bool has_xds = options->rules_source == WR_RULES_FROM_XDS;
    const bool has_sentinels = options->redis_type == WR_REDIS_SENTINEL;
    const bool has_per_second_sentinels =
        options->has_redis_per_second && options->redis_per_second_type == WR_REDIS_SENTINEL;
    const bool is_there[WR_OPTION_USES] = {
        [WR_OPTION_USED_ALWAYS] = true,
        [WR_OPTION_OF_XDS] = has_xds,
        [WR_OPTION_OF_XDS_TLS] = options->has_xds_tls,
        [WR_OPTION_OF_REDIS] = true,
        [WR_OPTION_OF_PER_SECOND] = options->has_redis_per_second,
        [WR_OPTION_OF_SENTINELS] = has_sentinels,
        [WR_OPTION_OF_PER_SECOND_SENTINELS] = has_per_second_sentinels,
        [WR_OPTION_OF_ANY_SENTINELS] = has_sentinels || has_per_second_sentinels,
        [WR_OPTION_OF_KEY_HASH] = options->has_redis_key_hash,
    };

    if (use == WR_OPTION_OF_XDS_TLS && !has_xds) {
        return WR_OPTION_OF_XDS;
    }
    if (use >= WR_OPTION_OF_REDIS && options->store != WR_STORE_REDIS) {
        return WR_OPTION_OF_REDIS;
    }
    if (use == WR_OPTION_OF_PER_SECOND_SENTINELS && !options->has_redis_per_second) {
        return WR_OPTION_OF_PER_SECOND;
    }
    return is_there[use] ? WR_OPTION_USED_ALWAYS : use;
}

static void print_name(const struct wr_option_row *row, FILE *out)
{
    if (row->flag != NULL) {
        fprintf(out, "--%s (%s)", row->flag, row->variable);
    } else {
        fprintf(out, "%s", row->variable);
    }
}

static void warn_of(const struct wr_options *options, const struct wr_options *defaults,
                    enum wr_option_use use, const char *without, FILE *err)
{
    const char *before = "";

    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        const struct wr_option_row *const row = &wr_option_rows[i];

        if (lacking(options, row->use) != use || wr_option_is_same(options, defaults, row)) {
            continue;
        }
        if (*before == '\0') {
            fprintf(err, "weir: warning: without %s these have no effect: ", without);
        }
        fprintf(err, "%s", before);
        print_name(row, err);
        before = ", ";
    }
    if (*before != '\0') {
        fprintf(err, "\n");
    }
}

void wr_options_warn_of_unused(const struct wr_options *options, const struct wr_options *defaults,
                               FILE *err)
{
    static const struct {
        enum wr_option_use use;
        const char *without;
    } rows[] = {
        {WR_OPTION_OF_XDS, "--rules-source xds (CONFIG_TYPE) rules come from files, and"},
        {WR_OPTION_OF_XDS_TLS, "--xds-tls (CONFIG_GRPC_XDS_SERVER_USE_TLS)"},
        {WR_OPTION_OF_REDIS,
         "--store redis (WEIR_STORE, BACKEND_TYPE) counters live in memory, and"},
        {WR_OPTION_OF_KEY_HASH, "--redis-key-hash (WEIR_REDIS_KEY_HASH)"},
        {WR_OPTION_OF_PER_SECOND, "--redis-per-second (REDIS_PERSECOND)"},
        {WR_OPTION_OF_SENTINELS, "--redis-type sentinel (REDIS_TYPE)"},
        {WR_OPTION_OF_PER_SECOND_SENTINELS,
         "--redis-per-second-type sentinel (REDIS_PERSECOND_TYPE)"},
        {WR_OPTION_OF_ANY_SENTINELS,
         "sentinels, which --redis-type (REDIS_TYPE) or --redis-per-second-type "
         "(REDIS_PERSECOND_TYPE) asks for,"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        warn_of(options, defaults, rows[i].use, rows[i].without, err);
    }
}
