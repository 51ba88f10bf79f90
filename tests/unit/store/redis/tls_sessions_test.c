/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_sessions.h"

#include <criterion/criterion.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/tls_bed.h"

/* A session of a real handshake, since none else may be gone on with. */
static SSL_SESSION *session_of(struct tls_bed *bed)
{
    tls_bed_init(bed);
    tls_bed_serve(bed, &(struct tls_peer_options){.max_version = TLS1_2_VERSION});
    (void) SSL_CTX_set_options(bed->peer.context, SSL_OP_NO_TICKET);
    tls_bed_secure(bed);
    cr_assert_eq(tls_bed_shake(bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    tls_peer_step(&bed->peer);
    return SSL_get1_session(bed->peer.ssl);
}

static struct wr_redis_tls_peer peer_of(const char *name, char last)
{
    struct wr_redis_tls_peer peer = {.address_len = 4, .name = name};

    memcpy(&peer.address, (const char[]){1, 2, 3, last}, 4);
    return peer;
}

static bool is_there(struct wr_redis_tls_sessions *sessions, uint64_t generation,
                     struct wr_redis_tls_peer peer)
{
    SSL_SESSION *const found = wr_redis_tls_sessions_find(sessions, generation, &peer);

    SSL_SESSION_free(found);
    return found != NULL;
}

Test(redis_tls_sessions, each_is_for_one_server_and_name)
{
    struct tls_bed bed;
    struct wr_redis_tls_sessions sessions;
    SSL_SESSION *const session = session_of(&bed);
    const struct wr_redis_tls_peer a = peer_of("a", 1);
    const struct wr_redis_tls_peer nobody = {.name = "a"};

    wr_redis_tls_sessions_init(&sessions);
    cr_assert_not(is_there(&sessions, 0, a));
    wr_redis_tls_sessions_keep(&sessions, 0, &a, session);
    cr_assert(is_there(&sessions, 0, a));
    cr_assert_not(is_there(&sessions, 0, peer_of("b", 1)));
    cr_assert_not(is_there(&sessions, 0, peer_of("a", 2)));
    wr_redis_tls_sessions_keep(&sessions, 0, &nobody, session);
    cr_assert_not(is_there(&sessions, 0, nobody));
    wr_redis_tls_sessions_forget(&sessions, &a);
    cr_assert_not(is_there(&sessions, 0, a));
    wr_redis_tls_sessions_fini(&sessions);
    SSL_SESSION_free(session);
    tls_bed_fini(&bed);
}

Test(redis_tls_sessions, none_outlives_its_context)
{
    struct tls_bed bed;
    struct wr_redis_tls_sessions sessions;
    SSL_SESSION *const session = session_of(&bed);
    const struct wr_redis_tls_peer a = peer_of("a", 1);

    wr_redis_tls_sessions_init(&sessions);
    wr_redis_tls_sessions_keep(&sessions, 0, &a, session);
    cr_assert_not(is_there(&sessions, 1, a), "a newer context, not told yet");
    wr_redis_tls_sessions_renew(&sessions, 1);
    cr_assert_not(is_there(&sessions, 0, a));
    cr_assert_not(is_there(&sessions, 1, a));
    wr_redis_tls_sessions_keep(&sessions, 0, &a, session);
    cr_assert_not(is_there(&sessions, 1, a), "of a context that is gone");
    wr_redis_tls_sessions_keep(&sessions, 1, &a, session);
    cr_assert(is_there(&sessions, 1, a));
    wr_redis_tls_sessions_fini(&sessions);
    SSL_SESSION_free(session);
    tls_bed_fini(&bed);
}

Test(redis_tls_sessions, the_oldest_makes_room)
{
    struct tls_bed bed;
    struct wr_redis_tls_sessions sessions;
    SSL_SESSION *const session = session_of(&bed);

    wr_redis_tls_sessions_init(&sessions);
    for (char i = 0; i <= WR_REDIS_TLS_SESSIONS; i++) {
        const struct wr_redis_tls_peer peer = peer_of("a", i);

        wr_redis_tls_sessions_keep(&sessions, 0, &peer, session);
        wr_redis_tls_sessions_keep(&sessions, 0, &peer, session);
    }
    cr_assert_not(is_there(&sessions, 0, peer_of("a", 0)));
    for (char i = 1; i <= WR_REDIS_TLS_SESSIONS; i++) {
        cr_assert(is_there(&sessions, 0, peer_of("a", i)), "%d", i);
    }
    wr_redis_tls_sessions_fini(&sessions);
    SSL_SESSION_free(session);
    tls_bed_fini(&bed);
}
