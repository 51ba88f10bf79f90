/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of weir: one table declares name, variable, flag, kind, default and help; values
 * come, in rising precedence, from the defaults, the environment and the flags.
 *
 * Threads: read by main before any thread starts, then immutable.
 */
#ifndef WR_OPTIONS_H
#define WR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"
#include "rules/policy.h"
#include "store/redis/key.h"
#include "store/redis/target.h"

#define WR_OPTION_LIST_MAX 64

/* Where counters live. */
enum wr_store_kind {
    WR_STORE_LOCAL,
    WR_STORE_REDIS,
};

/* Where rules come from. */
enum wr_rules_kind {
    WR_RULES_FROM_FILES,
    WR_RULES_FROM_XDS, /* a control plane */
};

/* A repeatable text. */
struct wr_option_list {
    const char *items[WR_OPTION_LIST_MAX]; /* borrowed from argv, or from copy */
    size_t n;
    char *copy; /* owned; of a variable's text, parted; NULL: none */
};

struct wr_options {
    struct wr_option_list rules;
    const char *runtime_root, *runtime_subdirectory, *runtime_appdirectory;
    bool is_runtime_root_watched;
    enum wr_rules_kind rules_source;
    const char *xds_server, *xds_node_id, *xds_node_metadata, *xds_headers;
    bool has_xds_tls;
    const char *xds_tls_ca, *xds_tls_cert, *xds_tls_key, *xds_tls_server_name;
    int64_t xds_pause_min_us, xds_pause_max_us;
    uint64_t xds_max_message_bytes; /* 0: a default */
    bool merges_domains, is_strict;
    int64_t rules_poll_us;
    uint64_t max_rules_file_bytes, max_rules_depth, max_rules_nodes;
    struct wr_option_list grpc_listen;
    const char *grpc_host, *grpc_uds;
    uint64_t grpc_port, unix_socket_mode;
    const char *port_file;
    uint64_t workers; /* 0: as many as there are cores */
    uint64_t slots, max_connections, max_streams;
    uint64_t max_memory_bytes; /* 0: a share of what there is */
    uint64_t max_buffer_bytes, max_message_bytes, max_descriptors, max_entries;
    uint64_t max_takes; /* 0: see its row */
    uint64_t max_counters;
    const char *redis_url, *redis_auth, *redis_key_prefix, *redis_key_secret_file;
    const char *redis_sentinel_auth;
    enum wr_store_kind store;
    enum wr_redis_topology redis_type, redis_per_second_type;
    enum wr_redis_socket_type redis_socket_type;
    enum wr_redis_key_form redis_key_form; /* without hashes */
    bool has_redis_key_hash;
    bool has_redis_per_second;
    const char *redis_per_second_url, *redis_per_second_auth, *redis_per_second_sentinel_auth;
    enum wr_redis_socket_type redis_per_second_socket_type;
    bool has_redis_tls, has_redis_per_second_tls, has_redis_sentinel_tls, has_redis_any_name;
    uint64_t over_limit_cache_bytes; /* 0: no cache */
    uint64_t replicas;               /* 0: learnt from Redis */
    const char *redis_tls_ca, *redis_tls_cert, *redis_tls_key, *redis_tls_server_name;
    int64_t redis_timeout_us, redis_connect_timeout_us, redis_pause_max_us;
    uint64_t redis_io_threads, redis_breaker_timeouts;
    bool has_store_health; /* health says whether the store is there */
    enum wr_failure_mode failure_mode;
    const char *degraded_header; /* empty: none */
    bool stops_when_over;
    bool has_shadow_mode, has_quota_mode, has_response_headers, has_dynamic_metadata;
    const char *limit_header, *remaining_header, *reset_header;
    int64_t handshake_timeout_us, max_connection_age_us, max_connection_age_grace_us; /* 0: none */
    int64_t drain_delay_us, drain_timeout_us;
    enum wr_log_level log_level;
};

/* What the command line asks for. */
enum wr_command {
    WR_COMMAND_SERVE,
    WR_COMMAND_CHECK,   /* operands are files and directories */
    WR_COMMAND_EXAMPLE, /* the same */
    WR_COMMAND_HELP,
    WR_COMMAND_VERSION,
    WR_COMMAND_LIST_OPTIONS,
    WR_COMMAND_LIST_METRICS,
};

struct wr_command_line {
    enum wr_command command;
    struct wr_options options;
    const char *const *operands;
    size_t n_operands;
};

/* Reads defaults, environment and `argv`, which is borrowed. False after a message to `err` that
 * names what is wrong and what is allowed. */
bool wr_command_line_parse(int argc, char **argv, FILE *err, struct wr_command_line *out_line);

/* After a parse that came to true. */
void wr_command_line_fini(struct wr_command_line *line);

void wr_options_print_help(FILE *out);

/* Each option with its flag, variable, default and the value in force. */
void wr_options_print_list(const struct wr_options *options, FILE *out);

#endif
