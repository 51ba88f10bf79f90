/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a Redis or Valkey store is, and how to be let in: read from what an operator wrote.
 *
 * Threads: immutable once parsed.
 */
#ifndef WR_STORE_REDIS_TARGET_H
#define WR_STORE_REDIS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define WR_REDIS_PORT 6379
#define WR_REDIS_SENTINEL_PORT 26379

enum wr_redis_topology {
    WR_REDIS_SINGLE,
    WR_REDIS_SENTINEL,
    WR_REDIS_CLUSTER,
};

enum wr_redis_socket_type {
    WR_REDIS_SOCKET_ANY, /* as the URL looks */
    WR_REDIS_SOCKET_TCP,
    WR_REDIS_SOCKET_UNIX,
};

/* What the options say; NULL or empty: nothing. */
struct wr_redis_target_texts {
    const char *url;
    const char *url_option; /* its name, for messages */
    enum wr_redis_topology topology;
    enum wr_redis_socket_type socket_type;
    const char *auth; /* PASSWORD or USER:PASSWORD, in place of what the URL has */
    const char
        *sentinel_auth;    /* the same for the sentinels; the store's own is never tried there */
    bool has_tls;          /* as rediss:// says, too */
    bool has_sentinel_tls; /* sentinels speak TLS */
};

struct wr_redis_address {
    const char *host; /* name or address without brackets; a path when `port` is 0 */
    uint16_t port;
};

struct wr_redis_login {
    const char *user;     /* NULL: the default user */
    const char *password; /* NULL: none is sent */
};

/* All texts are in the arena that was given to parse. */
struct wr_redis_target {
    enum wr_redis_topology topology;
    const struct wr_redis_address *addresses; /* the server; the sentinels; nodes of the cluster */
    size_t n_addresses;                       /* 1 when single, at least 1 */
    const char *primary_name;                 /* what the sentinels call it; else NULL */
    struct wr_redis_login login, sentinel_login;
    unsigned database; /* 0 in a cluster */
    bool has_tls, has_sentinel_tls;
};

/* Holds every message of parse. */
#define WR_REDIS_TARGET_MESSAGE_SIZE 256

/*
 * Reads `texts`:
 *
 *   single    HOST[:PORT], redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], /PATH, unix:PATH,
 *             unix://[[USER]:PASSWORD@]PATH[?db=DATABASE]
 *   sentinel  PRIMARY-NAME,HOST[:PORT][,…]
 *   cluster   HOST[:PORT][,…], each also as redis[s]://…
 *
 * WR_ERR_INVALID: `message` says which option, what is wrong and what is allowed, and holds no
 * password. WR_ERR_NO_MEMORY.
 */
WR_MUST_USE enum wr_err wr_redis_target_parse(const struct wr_redis_target_texts *texts,
                                              struct wr_arena *arena,
                                              struct wr_redis_target *out_target,
                                              char message[WR_REDIS_TARGET_MESSAGE_SIZE]);

#endif
