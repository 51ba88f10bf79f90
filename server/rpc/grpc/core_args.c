/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/core_args.h"

#include <limits.h>
#include <stddef.h>

/* All headers of one call: more than Envoy lets pass (60 KiB), since C core closes the connection,
 * with all its calls, soon after one that has more. */
#define MAX_METADATA_BYTES (64 * 1024)
/* Callers that ping more often than this, calls or not, are told to calm down. */
#define MIN_PING_INTERVAL_MS 500
/* After so long in silence a connection is asked whether its caller still lives. */
#define KEEPALIVE_MS 120000
#define KEEPALIVE_TIMEOUT_MS 20000

static int bounded(size_t value)
{
    return value > INT_MAX ? INT_MAX : (int) value;
}

static grpc_arg integer(const char *key, int value)
{
    union {
        const char *text;
        char *key;
    } name = {.text = key}; /* C core does not write to it */

    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = name.key, .value.integer = value};
}

/* What connections may hold in memory together; see rpc/grpc/server.h. */
static grpc_arg quota_arg(grpc_resource_quota *quota)
{
    union {
        const char *text;
        char *key;
    } name = {.text = GRPC_ARG_RESOURCE_QUOTA};

    return (grpc_arg){.type = GRPC_ARG_POINTER,
                      .key = name.key,
                      .value.pointer = {.p = quota, .vtable = grpc_resource_quota_arg_vtable()}};
}

/* C core's word for never is INT_MAX, and it takes a tenth off or adds it as jitter. */
static int age_ms(int64_t us)
{
    const int64_t ms = (us + 999) / 1000;

    return us == 0 || ms > INT_MAX ? INT_MAX : (int) ms;
}

grpc_server *wr_grpc_core_new(const struct wr_grpc_options *options)
{
    grpc_resource_quota *const quota = grpc_resource_quota_create("weir");

    grpc_resource_quota_resize(quota, options->max_buffer_bytes);

    grpc_arg args[] = {
        quota_arg(quota),
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, bounded(options->max_message_bytes)),
        integer(GRPC_ARG_MAX_CONCURRENT_STREAMS, bounded(options->max_concurrent_streams)),
        integer(GRPC_ARG_MAX_METADATA_SIZE, MAX_METADATA_BYTES),
        integer(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, MIN_PING_INTERVAL_MS),
        integer(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        integer(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS),
        integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS),
        integer(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
        integer(GRPC_ARG_MAX_CONNECTION_AGE_MS, age_ms(options->max_connection_age_us)),
        integer(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, age_ms(options->max_connection_age_grace_us)),
        /* Requests are small: no probing of the bandwidth with pings of our own. */
        integer(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        /* Envoy refuses compressed replies. */
        integer(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0),
        /* Its unpacking has no bound; see unpack.h. */
        integer(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        integer(GRPC_ARG_ENABLE_CENSUS, 0),
        integer(GRPC_ARG_ENABLE_CHANNELZ, 0),
    };
    const grpc_channel_args all = {.num_args = sizeof args / sizeof args[0], .args = args};

    grpc_server *const core = grpc_server_create(&all, NULL);

    grpc_resource_quota_unref(quota);
    return core;
}
