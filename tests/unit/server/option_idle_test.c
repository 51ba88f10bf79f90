/* SPDX-License-Identifier: Apache-2.0 */
#include "option_idle.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "option_row.h"

#define MAX_SET 3

struct setting {
    const char *name, *value;
};

static void set_all(const struct setting settings[MAX_SET])
{
    for (size_t i = 0; i < MAX_SET && settings[i].name != NULL; i++) {
        cr_assert_eq(setenv(settings[i].name, settings[i].value, 1), 0);
    }
}

static void unset_all(const struct setting settings[MAX_SET])
{
    for (size_t i = 0; i < MAX_SET && settings[i].name != NULL; i++) {
        cr_assert_eq(unsetenv(settings[i].name), 0);
    }
}

Test(option_idle, no_server_starts_open_that_was_to_be_closed)
{
    static const struct {
        struct setting settings[MAX_SET];
        const char *said; /* NULL: it starts */
    } rows[] = {
        {{{"GRPC_SERVER_USE_TLS", "true"}}, "asked for by GRPC_SERVER_USE_TLS, but"},
        {{{"GRPC_SERVER_USE_TLS", "1"}}, "asked for by GRPC_SERVER_USE_TLS, but"},
        {{{"GRPC_SERVER_USE_TLS", "yes, please"}}, "asked for by GRPC_SERVER_USE_TLS, but"},
        {{{"GRPC_CLIENT_TLS_CACERT", "/ca.pem"}}, "asked for by GRPC_CLIENT_TLS_CACERT, but"},
        {{{"GRPC_CLIENT_TLS_SAN", "envoy"}}, "asked for by GRPC_CLIENT_TLS_SAN, but"},
        {{{"GRPC_SERVER_USE_TLS", "TRUE"}, {"GRPC_CLIENT_TLS_CACERT", "/ca.pem"}},
         "asked for by GRPC_SERVER_USE_TLS, GRPC_CLIENT_TLS_CACERT, but"},
        {{{"GRPC_SERVER_USE_TLS", "true"}}, "unset that"},
        {{{"GRPC_SERVER_USE_TLS", "true"}}, "a proxy or a mesh that speaks TLS"},
        {{{"GRPC_SERVER_USE_TLS", "true"}},
         "a loopback address or a Unix socket (--grpc-listen)\n"},
        {{{"GRPC_SERVER_USE_TLS", ""}}, NULL},
        {{{"GRPC_SERVER_USE_TLS", "false"}}, NULL},
        {{{"GRPC_SERVER_USE_TLS", "F"}, {"GRPC_CLIENT_TLS_CACERT", "/ca.pem"}}, NULL},
        {{{"GRPC_CLIENT_TLS_CACERT", ""}, {"GRPC_CLIENT_TLS_SAN", ""}}, NULL},
        {{{"GRPC_SERVER_TLS_CERT", "/cert.pem"}, {"GRPC_SERVER_TLS_KEY", "/key.pem"}}, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char said[1024] = "";
        FILE *const err = fmemopen(said, sizeof said, "w");

        set_all(rows[i].settings);
        cr_assert_eq(wr_idle_options_allow(err), rows[i].said == NULL, "row %zu", i);
        fclose(err);
        unset_all(rows[i].settings);
        if (rows[i].said == NULL) {
            cr_assert_str_eq(said, "", "row %zu", i);
        } else {
            cr_assert_not_null(strstr(said, rows[i].said), "row %zu: %s", i, said);
        }
    }
}

#define NO_EFFECT                                                                                  \
    "weir: warning: these variables of envoyproxy/ratelimit have no effect in this version: "

Test(option_idle, what_is_set_in_vain_is_told_in_one_line)
{
    static const struct {
        struct setting settings[MAX_SET];
        const char *said;
    } rows[] = {
        {{{NULL, NULL}}, ""},
        {{{"PORT", "8080"}}, NO_EFFECT "PORT\n"},
        {{{"PORT", ""}}, ""},
        {{{"TRACING_SAMPLING_RATE", "1"}, {"MEMCACHE_SRV", "_m._tcp"}, {"HOST", "::"}},
         NO_EFFECT "HOST, MEMCACHE_SRV, TRACING_SAMPLING_RATE\n"},
        {{{"USE_STATSD", "true"}}, NO_EFFECT "USE_STATSD\n"},
        {{{"USE_STATSD", "false"}, {"LOG_FORMAT", "text"}, {"DISABLE_STATS", "T"}}, ""},
        {{{"LOG_FORMAT", "json"}}, NO_EFFECT "LOG_FORMAT\n"},
        {{{"XDS_CLIENT_BACKOFF_JITTER", "true"}}, ""},
        {{{"XDS_CLIENT_BACKOFF_JITTER", "false"}}, NO_EFFECT "XDS_CLIENT_BACKOFF_JITTER\n"},
        {{{"DOG_STATSD_MOGRIFIER_A_NAME", "x"}, {"DOG_STATSD_MOGRIFIER_A_TAGS", "y"}},
         NO_EFFECT "DOG_STATSD_MOGRIFIER_*\n"},
        {{{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}}, ""},
        {{{"OTEL_EXPORTER_OTLP_HEADERS", "a=b="}}, NO_EFFECT "OTEL_EXPORTER_OTLP_*\n"},
        {{{"GRPC_SERVER_USE_TLS", "false"}, {"GRPC_CLIENT_TLS_SAN", "envoy"}},
         NO_EFFECT "GRPC_CLIENT_TLS_SAN\n"},
        {{{"GRPC_SERVER_TLS_KEY", "/key.pem"},
          {"GRPC_SERVER_USE_TLS", "false"},
          {"GRPC_CLIENT_TLS_SAN", "envoy"}},
         NO_EFFECT "GRPC_SERVER_TLS_KEY, GRPC_CLIENT_TLS_SAN\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char said[1024] = "";
        FILE *const err = fmemopen(said, sizeof said, "w");

        set_all(rows[i].settings);
        wr_idle_options_warn(err);
        fclose(err);
        unset_all(rows[i].settings);
        cr_assert_str_eq(said, rows[i].said, "row %zu: %s", i, said);
    }
}

/* Every variable of the incumbent's settings, with what it reads besides. */
Test(option_idle, no_variable_of_the_incumbent_is_unknown)
{
    static const char *const names[] = {
        "HOST",
        "PORT",
        "DEBUG_HOST",
        "DEBUG_PORT",
        "GRPC_HOST",
        "GRPC_PORT",
        "GRPC_UDS",
        "GRPC_MAX_CONNECTION_AGE",
        "GRPC_MAX_CONNECTION_AGE_GRACE",
        "GRPC_SERVER_USE_TLS",
        "GRPC_SERVER_TLS_CERT",
        "GRPC_SERVER_TLS_KEY",
        "GRPC_CLIENT_TLS_CACERT",
        "GRPC_CLIENT_TLS_SAN",
        "LOG_LEVEL",
        "LOG_FORMAT",
        "CONFIG_TYPE",
        "FORCE_START_WITHOUT_INITIAL_CONFIG",
        "MERGE_DOMAIN_CONFIG",
        "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED",
        "RUNTIME_ROOT",
        "RUNTIME_SUBDIRECTORY",
        "RUNTIME_APPDIRECTORY",
        "RUNTIME_IGNOREDOTFILES",
        "RUNTIME_WATCH_ROOT",
        "CONFIG_GRPC_XDS_NODE_ID",
        "CONFIG_GRPC_XDS_NODE_METADATA",
        "CONFIG_GRPC_XDS_SERVER_URL",
        "CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL",
        "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS",
        "CONFIG_GRPC_XDS_SERVER_USE_TLS",
        "CONFIG_GRPC_XDS_CLIENT_TLS_CERT",
        "CONFIG_GRPC_XDS_CLIENT_TLS_KEY",
        "CONFIG_GRPC_XDS_SERVER_TLS_CACERT",
        "CONFIG_GRPC_XDS_SERVER_TLS_SAN",
        "XDS_CLIENT_BACKOFF_INITIAL_INTERVAL",
        "XDS_CLIENT_BACKOFF_MAX_INTERVAL",
        "XDS_CLIENT_BACKOFF_RANDOM_FACTOR",
        "XDS_CLIENT_BACKOFF_JITTER",
        "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES",
        "BACKEND_TYPE",
        "NEAR_LIMIT_RATIO",
        "EXPIRATION_JITTER_MAX_SECONDS",
        "LOCAL_CACHE_SIZE_IN_BYTES",
        "CACHE_KEY_PREFIX",
        "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT",
        "SHADOW_MODE",
        "QUOTA_MODE",
        "RESPONSE_DYNAMIC_METADATA",
        "LIMIT_RESPONSE_HEADERS_ENABLED",
        "LIMIT_LIMIT_HEADER",
        "LIMIT_REMAINING_HEADER",
        "LIMIT_RESET_HEADER",
        "REDIS_SOCKET_TYPE",
        "REDIS_TYPE",
        "REDIS_URL",
        "REDIS_POOL_SIZE",
        "REDIS_AUTH",
        "REDIS_SENTINEL_AUTH",
        "REDIS_TLS",
        "REDIS_TLS_CLIENT_CERT",
        "REDIS_TLS_CLIENT_KEY",
        "REDIS_TLS_CACERT",
        "REDIS_TLS_SKIP_HOSTNAME_VERIFICATION",
        "REDIS_TIMEOUT",
        "REDIS_POOL_ON_EMPTY_BEHAVIOR",
        "REDIS_PIPELINE_WINDOW",
        "REDIS_PIPELINE_LIMIT",
        "REDIS_CLUSTER_PIPELINE_PARALLELISM",
        "REDIS_PERSECOND",
        "REDIS_PERSECOND_SOCKET_TYPE",
        "REDIS_PERSECOND_TYPE",
        "REDIS_PERSECOND_URL",
        "REDIS_PERSECOND_POOL_SIZE",
        "REDIS_PERSECOND_AUTH",
        "REDIS_PERSECOND_SENTINEL_AUTH",
        "REDIS_PERSECOND_TLS",
        "REDIS_PERSECOND_TIMEOUT",
        "REDIS_PERSECOND_POOL_ON_EMPTY_BEHAVIOR",
        "REDIS_PERSECOND_PIPELINE_WINDOW",
        "REDIS_PERSECOND_PIPELINE_LIMIT",
        "REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM",
        "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION",
        "REDIS_STARTUP_INITIAL_INTERVAL",
        "REDIS_STARTUP_MAX_INTERVAL",
        "REDIS_STARTUP_MAX_ELAPSED_TIME",
        "MEMCACHE_HOST_PORT",
        "MEMCACHE_MAX_IDLE_CONNS",
        "MEMCACHE_SRV",
        "MEMCACHE_SRV_REFRESH",
        "MEMCACHE_TLS",
        "MEMCACHE_TLS_CLIENT_CERT",
        "MEMCACHE_TLS_CLIENT_KEY",
        "MEMCACHE_TLS_CACERT",
        "MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION",
        "DISABLE_STATS",
        "USE_STATSD",
        "STATSD_HOST",
        "STATSD_PORT",
        "STATSD_PROTOCOL",
        "STATS_FLUSH_INTERVAL",
        "EXTRA_TAGS",
        "USE_DOG_STATSD",
        "USE_DOG_STATSD_MOGRIFIERS",
        "DOG_STATSD_MOGRIFIER_*",
        "USE_PROMETHEUS",
        "PROMETHEUS_ADDR",
        "PROMETHEUS_PATH",
        "PROMETHEUS_MAPPER_YAML",
        "PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS",
        "GOSTATS_*",
        "TRACING_ENABLED",
        "TRACING_SERVICE_NAME",
        "TRACING_SERVICE_NAMESPACE",
        "TRACING_SERVICE_INSTANCE_ID",
        "TRACING_EXPORTER_PROTOCOL",
        "TRACING_SAMPLING_RATE",
        "OTEL_EXPORTER_OTLP_*",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = 0;

        for (size_t j = 0; j < WR_OPTION_ROWS; j++) {
            n += wr_option_rows[j].variable != NULL &&
                 strcmp(wr_option_rows[j].variable, names[i]) == 0;
        }
        cr_assert_eq(n, 1, "%s has %zu rows", names[i], n);
    }
}
