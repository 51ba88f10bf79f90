/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_layer.h"

#include <criterion/criterion.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/support/tls_bed.h"

static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

#define N_VERSIONS (sizeof versions / sizeof versions[0])

static void open_bed(struct tls_bed *bed, int version)
{
    tls_bed_init(bed);
    tls_bed_serve(bed, &(struct tls_peer_options){.max_version = version});
    tls_bed_secure(bed);
}

static enum wr_redis_io read_some(struct tls_bed *bed, char *bytes, size_t size, size_t *out_n)
{
    *out_n = 0;
    return bed->layer->ops->read(bed->layer, bytes, size, out_n);
}

static enum wr_redis_io write_some(struct tls_bed *bed, const char *bytes, size_t n, size_t *out_n)
{
    *out_n = 0;
    return bed->layer->ops->write(bed->layer, bytes, n, out_n);
}

/* Sends `n` bytes through the peer, each attempt from another address, and gets them back. */
static void echo(struct tls_bed *bed, const char *bytes, size_t n, size_t *out_n_waits)
{
    char *const back = malloc(n);
    size_t n_sent = 0, n_back = 0;

    *out_n_waits = 0;
    cr_assert_not_null(back);
    while (n_back < n) {
        size_t some = 0;
        char *const moved = malloc(n - n_sent + 1);

        cr_assert_not_null(moved);
        memcpy(moved, bytes + n_sent, n - n_sent);
        if (n_sent < n) {
            const enum wr_redis_io io = write_some(bed, moved, n - n_sent, &some);

            cr_assert(io == WR_REDIS_IO_DONE || io == WR_REDIS_IO_WANT_WRITE, "%d", (int) io);
            *out_n_waits += io == WR_REDIS_IO_WANT_WRITE;
            n_sent += some;
        }
        free(moved);
        tls_peer_step(&bed->peer);

        const enum wr_redis_io io = read_some(bed, back + n_back, n - n_back, &some);

        cr_assert(io == WR_REDIS_IO_DONE || io == WR_REDIS_IO_WANT_READ, "%d", (int) io);
        n_back += some;
    }
    cr_assert_eq(memcmp(back, bytes, n), 0);
    free(back);
}

Test(redis_tls_layer, bytes_go_and_come)
{
    for (size_t i = 0; i < N_VERSIONS; i++) {
        struct tls_bed bed;
        size_t n_waits = 0;
        char byte;
        size_t n;

        open_bed(&bed, versions[i]);
        cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
        cr_assert_eq(read_some(&bed, &byte, 1, &n), WR_REDIS_IO_WANT_READ);
        echo(&bed, "PING\r\n", 6, &n_waits);
        cr_assert_eq(n_waits, 0);
        tls_bed_fini(&bed);
    }
}

/* Far more than a socket or a record of TLS holds. */
Test(redis_tls_layer, much_goes_in_pieces)
{
    const size_t n = (size_t) 3 << 20;
    char *const bytes = malloc(n);
    struct tls_bed bed;
    size_t n_waits = 0;

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (char) (i * 31 >> 3);
    }
    open_bed(&bed, 0);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);

    size_t some = 0, n_sent = 0;

    while (write_some(&bed, bytes + n_sent, n - n_sent, &some) == WR_REDIS_IO_DONE) {
        cr_assert_gt(some, 0);
        cr_assert_lt(some, n);
        n_sent += some;
    }
    cr_assert_lt(n_sent, n, "the socket took all at once");
    tls_bed_fini(&bed);

    open_bed(&bed, 0);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    echo(&bed, bytes, (size_t) 256 << 10, &n_waits);
    tls_bed_fini(&bed);
    free(bytes);
}

Test(redis_tls_layer, certificates_that_are_refused)
{
    static const struct {
        const char *name, *alternatives;
        bool is_own_issuer;
        long begin_s, end_s;
        const char *part;
    } rows[] = {
        {"redis", "DNS:" TLS_BED_HOST, false, -7200, -3600,
         "the certificate of redis.example expired on 20"},
        {"redis", "DNS:" TLS_BED_HOST, false, 3600, 7200,
         "the certificate of redis.example is not valid before 20"},
        {"redis", "DNS:" TLS_BED_HOST, true, 0, 0,
         "the certificate of redis.example is signed by redis, which nothing in /tmp/"},
        {"redis", NULL, false, 0, 0, "the certificate of redis.example is for redis; "},
        {"redis", "DNS:a,DNS:b,DNS:c,DNS:d,IP:::1", false, 0, 0, "is for a, b, c, d and 1 more;"},
        {"redis", "IP:::1,IP:127.0.0.1", false, 0, 0, "is for ::1, 127.0.0.1;"},
        {"two\nlines", NULL, false, 0, 0, "is for two?lines;"},
        {"redis", "DNS:*.example.org", false, 0, 0, "is for *.example.org;"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tls_bed bed;

        tls_bed_init(&bed);

        const struct certificate_wish wish = {
            .name = rows[i].name,
            .alternatives = rows[i].alternatives,
            .issuer = rows[i].is_own_issuer ? NULL : &bed.authority,
            .begin_s = rows[i].begin_s,
            .end_s = rows[i].end_s,
        };
        struct certificate certificate = certificate_make(&wish);

        tls_bed_serve(&bed, &(struct tls_peer_options){.certificate = &certificate});
        tls_bed_secure(&bed);
        tls_bed_expect_refusal(&bed, TLS_BED_HOST, rows[i].part);
        tls_bed_fini(&bed);
        certificate_fini(&certificate);
    }
}

static void secure_as(struct tls_bed *bed, const struct certificate *client)
{
    struct wr_redis_tls_files files = {.ca = bed->ca, .cert = "", .key = ""};

    if (client != NULL) {
        certificate_write(client, bed->cert);
        certificate_write_key(client, bed->key, NULL);
        files.cert = bed->cert;
        files.key = bed->key;
    }
    tls_bed_secure_with(bed, (struct wr_redis_tls_options){.files = files, .server_name = ""});
}

/* With TLS 1.3 a client learns after its handshake that the server does not want it. */
static void expect_unwanted(struct tls_bed *bed, const char *part)
{
    if (tls_bed_shake(bed, TLS_BED_HOST) == WR_REDIS_IO_DONE) {
        cr_assert_eq(tls_bed_listen(bed), WR_REDIS_IO_FAILED, "%s", part);
    }

    const char *const reason = bed->layer->ops->reason(bed->layer);

    cr_assert_not_null(strstr(reason, part), "\"%s\" is not in: %s", part, reason);
}

Test(redis_tls_layer, client_certificates)
{
    for (size_t i = 0; i < N_VERSIONS; i++) {
        struct tls_bed bed;
        struct certificate good, foreign;
        const struct tls_peer_options peer = {.client_ca = &bed.authority,
                                              .max_version = versions[i]};

        tls_bed_init(&bed);
        good =
            certificate_make(&(struct certificate_wish){.name = "weir", .issuer = &bed.authority});
        foreign = certificate_make(&(struct certificate_wish){.name = "stranger"});
        tls_bed_serve(&bed, &peer);
        secure_as(&bed, NULL);
        expect_unwanted(&bed, "--redis-tls-cert and --redis-tls-key");
        bed.security->destroy(bed.security);
        secure_as(&bed, &foreign);
        expect_unwanted(&bed, "does not accept our client certificate");
        bed.security->destroy(bed.security);
        secure_as(&bed, &good);
        cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
        cr_assert_eq(tls_bed_listen(&bed), WR_REDIS_IO_WANT_READ);
        tls_bed_fini(&bed);
        certificate_fini(&good);
        certificate_fini(&foreign);
    }
}

/* The server said why and hung up before this end wrote. */
Test(redis_tls_layer, a_write_that_comes_too_late_tells_why)
{
    struct tls_bed bed;
    size_t n = 0;

    tls_bed_init(&bed);
    tls_bed_serve(&bed, &(struct tls_peer_options){.client_ca = &bed.authority});
    secure_as(&bed, NULL);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    tls_peer_step(&bed.peer);
    tls_peer_hang_up(&bed.peer, false);
    cr_assert_eq(write_some(&bed, "x", 1, &n), WR_REDIS_IO_FAILED);

    const char *const reason = bed.layer->ops->reason(bed.layer);

    cr_assert_not_null(strstr(reason, "wants a client certificate"), "%s", reason);
    tls_bed_fini(&bed);
}

Test(redis_tls_layer, a_server_without_tls)
{
    static const char *const rows[] = {
        "-ERR unknown command\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\x01\x02\x03\x04\x05\x06\x07\x08",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tls_bed bed;

        open_bed(&bed, 0);
        tls_bed_connect(&bed, TLS_BED_HOST);
        tls_peer_send_raw(&bed.peer, rows[i], strlen(rows[i]));
        cr_assert_eq(bed.layer->ops->handshake(bed.layer), WR_REDIS_IO_FAILED);

        const char *const reason = bed.layer->ops->reason(bed.layer);

        cr_assert_not_null(strstr(reason, "does not speak TLS"), "row %zu: %s", i, reason);
        tls_bed_fini(&bed);
    }
}

Test(redis_tls_layer, a_server_that_is_too_old)
{
    struct tls_bed bed;

    open_bed(&bed, TLS1_1_VERSION);
    tls_bed_expect_refusal(&bed, TLS_BED_HOST, "1.2 is the oldest");
    tls_bed_fini(&bed);
}

Test(redis_tls_layer, a_server_that_ends_it)
{
    static const bool manners[] = {true, false};
    struct tls_bed bed;
    char byte;
    size_t n;

    open_bed(&bed, 0);
    tls_bed_connect(&bed, TLS_BED_HOST);
    cr_assert_eq(bed.layer->ops->handshake(bed.layer), WR_REDIS_IO_WANT_READ);
    tls_peer_hang_up(&bed.peer, false);
    cr_assert_eq(bed.layer->ops->handshake(bed.layer), WR_REDIS_IO_FAILED);
    cr_assert_not_null(strstr(bed.layer->ops->reason(bed.layer), "in the middle of the handshake"),
                       "%s", bed.layer->ops->reason(bed.layer));
    for (size_t i = 0; i < sizeof manners / sizeof manners[0]; i++) {
        cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
        tls_peer_step(&bed.peer);
        tls_peer_hang_up(&bed.peer, manners[i]);
        cr_assert_eq(read_some(&bed, &byte, 1, &n), WR_REDIS_IO_CLOSED);
    }
    tls_bed_fini(&bed);
}

/* Whatever stands between may change bytes; they must not come through. */
Test(redis_tls_layer, garbage_after_the_handshake)
{
    struct tls_bed bed;
    char byte;
    size_t n;

    open_bed(&bed, 0);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    cr_assert_eq(tls_bed_listen(&bed), WR_REDIS_IO_WANT_READ);
    tls_peer_send_raw(&bed.peer, "\x17\x03\x03\x00\x14++++++++++++++++++++", 25);
    cr_assert_eq(read_some(&bed, &byte, 1, &n), WR_REDIS_IO_FAILED);
    cr_assert_eq(n, 0);
    cr_assert_not_null(strstr(bed.layer->ops->reason(bed.layer), "changed on its way"), "%s",
                       bed.layer->ops->reason(bed.layer));
    tls_bed_fini(&bed);
}

Test(redis_tls_layer, renegotiation_is_refused)
{
    struct tls_bed bed;
    size_t n_waits;

    open_bed(&bed, TLS1_2_VERSION);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    echo(&bed, "a", 1, &n_waits);
    cr_assert_eq(SSL_renegotiate(bed.peer.ssl), 1);
    cr_assert_eq(SSL_do_handshake(bed.peer.ssl), 1, "the request could not be sent");
    cr_assert_eq(tls_bed_listen(&bed), WR_REDIS_IO_WANT_READ);
    tls_peer_step(&bed.peer);
    cr_assert(bed.peer.has_failed, "the server's wish was granted");
    tls_bed_fini(&bed);
}

/* A server that wants new keys in the middle of things, as TLS 1.3 allows. */
Test(redis_tls_layer, keys_are_changed)
{
    struct tls_bed bed;
    size_t n_waits;

    open_bed(&bed, TLS1_3_VERSION);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    echo(&bed, "before", 6, &n_waits);
    cr_assert_eq(SSL_key_update(bed.peer.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    cr_assert_eq(SSL_do_handshake(bed.peer.ssl), 1);
    echo(&bed, "after", 5, &n_waits);
    tls_bed_fini(&bed);
}

Test(redis_tls_layer, it_says_good_bye)
{
    struct tls_bed bed;

    open_bed(&bed, 0);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    tls_peer_step(&bed.peer);
    bed.layer->ops->destroy(bed.layer);
    bed.layer = NULL;
    tls_peer_step(&bed.peer);
    cr_assert_eq(SSL_get_shutdown(bed.peer.ssl) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
    tls_bed_fini(&bed);
}

/* OpenSSL keeps errors by thread: those of one layer must not be taken for another's. */
Test(redis_tls_layer, no_errors_are_left_behind)
{
    struct tls_bed bed;
    struct certificate stranger;

    tls_bed_init(&bed);
    stranger = certificate_make(&(struct certificate_wish){.name = TLS_BED_HOST});
    tls_bed_serve(&bed, &(struct tls_peer_options){.certificate = &stranger});
    tls_bed_secure(&bed);
    tls_bed_expect_refusal(&bed, TLS_BED_HOST, "is signed by");
    cr_assert_eq(ERR_peek_error(), 0);
    ERR_raise(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER);
    tls_bed_connect(&bed, TLS_BED_HOST);
    cr_assert_eq(bed.layer->ops->handshake(bed.layer), WR_REDIS_IO_WANT_READ);
    tls_bed_fini(&bed);
    certificate_fini(&stranger);
}
