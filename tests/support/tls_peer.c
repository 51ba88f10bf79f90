/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/tls_peer.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "tests/support/certificates.h"

void tls_peer_init(struct tls_peer *peer, const struct tls_peer_options *options)
{
    static const unsigned char id[] = "tests";

    *peer = (struct tls_peer){.context = SSL_CTX_new(TLS_server_method()), .fd = -1};
    WR_ASSERT(peer->context != NULL);
    /* Level 0 lets versions before 1.2 through, where a test wants them. */
    WR_ASSERT(SSL_CTX_set_cipher_list(peer->context, "DEFAULT:@SECLEVEL=0") == 1);
    WR_ASSERT(SSL_CTX_set_min_proto_version(peer->context, 0) == 1);
    WR_ASSERT(SSL_CTX_set_max_proto_version(peer->context, options->max_version) == 1);
    WR_ASSERT(SSL_CTX_use_certificate(peer->context, options->certificate->x509) == 1);
    WR_ASSERT(SSL_CTX_use_PrivateKey(peer->context, options->certificate->key) == 1);
    WR_ASSERT(SSL_CTX_set_session_id_context(peer->context, id, sizeof id) == 1);
    (void) SSL_CTX_set_mode(peer->context,
                            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (options->client_ca != NULL) {
        X509_STORE *const store = SSL_CTX_get_cert_store(peer->context);

        WR_ASSERT(X509_STORE_add_cert(store, options->client_ca->x509) == 1);
        SSL_CTX_set_verify(peer->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
}

static void forget(struct tls_peer *peer)
{
    SSL_free(peer->ssl);
    peer->ssl = NULL;
    if (peer->fd >= 0) {
        (void) close(peer->fd);
        peer->fd = -1;
    }
    peer->is_through = false;
    peer->has_failed = false;
    peer->n_held = 0;
}

void tls_peer_fini(struct tls_peer *peer)
{
    forget(peer);
    SSL_CTX_free(peer->context);
}

int tls_peer_connect(struct tls_peer *peer)
{
    int ends[2];

    forget(peer);
    WR_ASSERT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    WR_ASSERT(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    peer->fd = ends[0];
    peer->ssl = SSL_new(peer->context);
    WR_ASSERT(peer->ssl != NULL && SSL_set_fd(peer->ssl, peer->fd) == 1);
    return ends[1];
}

/* False when it has to wait, or is over. */
static bool went_on(struct tls_peer *peer, int result)
{
    if (result == 1) {
        return true;
    }

    const int kind = SSL_get_error(peer->ssl, result);

    peer->has_failed |= kind != SSL_ERROR_WANT_READ && kind != SSL_ERROR_WANT_WRITE;
    return false;
}

static bool send_back(struct tls_peer *peer)
{
    size_t n = 0;

    if (peer->n_held == 0 ||
        !went_on(peer, SSL_write_ex(peer->ssl, peer->held, peer->n_held, &n))) {
        return peer->n_held == 0;
    }
    memmove(peer->held, peer->held + n, peer->n_held - n);
    peer->n_held -= n;
    return true;
}

void tls_peer_step(struct tls_peer *peer)
{
    ERR_clear_error();
    if (peer->ssl == NULL || peer->has_failed) {
        return;
    }
    if (!peer->is_through) {
        peer->is_through = went_on(peer, SSL_accept(peer->ssl));
    }
    while (peer->is_through && !peer->has_failed && send_back(peer) &&
           (peer->n_held > 0 ||
            went_on(peer, SSL_read_ex(peer->ssl, peer->held, sizeof peer->held, &peer->n_held)))) {
    }
    ERR_clear_error();
}

void tls_peer_send_raw(struct tls_peer *peer, const char *bytes, size_t n)
{
    WR_ASSERT(send(peer->fd, bytes, n, MSG_NOSIGNAL) == (ssize_t) n);
}

void tls_peer_hang_up(struct tls_peer *peer, bool is_polite)
{
    if (is_polite) {
        (void) SSL_shutdown(peer->ssl);
        ERR_clear_error();
    }
    forget(peer);
}
