/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_sessions.h"

#include <openssl/ssl.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_of(const struct wr_redis_tls_session *item, const struct wr_redis_tls_peer *peer)
{
    return item->session != NULL && item->address_len == peer->address_len &&
           memcmp(&item->address, &peer->address, peer->address_len) == 0 &&
           strcmp(item->name, peer->name) == 0;
}

/* WR_REDIS_TLS_SESSIONS: none. */
static size_t index_of(const struct wr_redis_tls_sessions *sessions,
                       const struct wr_redis_tls_peer *peer)
{
    size_t i = 0;

    while (i < WR_REDIS_TLS_SESSIONS && !is_of(&sessions->items[i], peer)) {
        i++;
    }
    return i;
}

static void empty(struct wr_redis_tls_session *item)
{
    SSL_SESSION_free(item->session);
    item->session = NULL;
}

void wr_redis_tls_sessions_init(struct wr_redis_tls_sessions *sessions)
{
    *sessions = (struct wr_redis_tls_sessions){0};
    wr_mutex_init(&sessions->mu, WR_LOCK_REDIS_TLS);
}

void wr_redis_tls_sessions_fini(struct wr_redis_tls_sessions *sessions)
{
    for (size_t i = 0; i < WR_REDIS_TLS_SESSIONS; i++) {
        empty(&sessions->items[i]);
    }
    wr_mutex_fini(&sessions->mu);
}

/* Takes the session over. */
static void keep_locked(struct wr_redis_tls_sessions *sessions,
                        const struct wr_redis_tls_peer *peer, SSL_SESSION *session)
    WR_REQUIRES(sessions->mu)
{
    size_t i = index_of(sessions, peer);

    if (i == WR_REDIS_TLS_SESSIONS) {
        i = sessions->next;
        sessions->next = (i + 1) % WR_REDIS_TLS_SESSIONS;
    }

    struct wr_redis_tls_session *const item = &sessions->items[i];

    empty(item);
    item->session = session;
    item->address = peer->address;
    item->address_len = peer->address_len;
    (void) snprintf(item->name, sizeof item->name, "%s", peer->name);
}

void wr_redis_tls_sessions_keep(struct wr_redis_tls_sessions *sessions, uint64_t generation,
                                const struct wr_redis_tls_peer *peer,
                                struct ssl_session_st *session)
{
    SSL_SESSION *copy = peer->address_len != 0 && strlen(peer->name) < WR_REDIS_TLS_NAME_SIZE
                            ? SSL_SESSION_dup(session)
                            : NULL;

    if (copy == NULL) {
        return;
    }
    wr_mutex_lock(&sessions->mu);
    if (sessions->generation == generation) {
        keep_locked(sessions, peer, copy);
        copy = NULL;
    }
    wr_mutex_unlock(&sessions->mu);
    SSL_SESSION_free(copy);
}

struct ssl_session_st *wr_redis_tls_sessions_find(struct wr_redis_tls_sessions *sessions,
                                                  uint64_t generation,
                                                  const struct wr_redis_tls_peer *peer)
{
    SSL_SESSION *copy = NULL;

    wr_mutex_lock(&sessions->mu);

    const size_t i = index_of(sessions, peer);

    if (i < WR_REDIS_TLS_SESSIONS && sessions->generation == generation &&
        SSL_SESSION_is_resumable(sessions->items[i].session) == 1) {
        copy = SSL_SESSION_dup(sessions->items[i].session);
    }
    wr_mutex_unlock(&sessions->mu);
    return copy;
}

void wr_redis_tls_sessions_forget(struct wr_redis_tls_sessions *sessions,
                                  const struct wr_redis_tls_peer *peer)
{
    wr_mutex_lock(&sessions->mu);

    const size_t i = index_of(sessions, peer);

    if (i < WR_REDIS_TLS_SESSIONS) {
        empty(&sessions->items[i]);
    }
    wr_mutex_unlock(&sessions->mu);
}

void wr_redis_tls_sessions_renew(struct wr_redis_tls_sessions *sessions, uint64_t generation)
{
    wr_mutex_lock(&sessions->mu);
    sessions->generation = generation;
    for (size_t i = 0; i < WR_REDIS_TLS_SESSIONS; i++) {
        empty(&sessions->items[i]);
    }
    wr_mutex_unlock(&sessions->mu);
}
