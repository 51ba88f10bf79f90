/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/tls_bed.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"

/* More steps than any handshake takes. */
#define MAX_STEPS 100

void tls_bed_init(struct tls_bed *bed)
{
    *bed = (struct tls_bed){.folder = "/tmp/weir-tls.XXXXXX", .fd = -1, .peer = {.fd = -1}};
    (void) signal(SIGPIPE, SIG_IGN);
    cr_assert_not_null(mkdtemp(bed->folder));
    (void) snprintf(bed->ca, sizeof bed->ca, "%s/ca.pem", bed->folder);
    (void) snprintf(bed->cert, sizeof bed->cert, "%s/cert.pem", bed->folder);
    (void) snprintf(bed->key, sizeof bed->key, "%s/key.pem", bed->folder);
    bed->authority =
        certificate_make(&(struct certificate_wish){.name = "Test CA", .is_authority = true});
    bed->server = certificate_make(
        &(struct certificate_wish){.name = "redis",
                                   .alternatives = "DNS:" TLS_BED_HOST ",IP:10.1.2.3",
                                   .issuer = &bed->authority});
    certificate_write(&bed->authority, bed->ca);
    bed->metrics = wr_metrics_new();
    cr_assert_not_null(bed->metrics);
}

static void disconnect(struct tls_bed *bed)
{
    if (bed->layer != NULL) {
        bed->layer->ops->destroy(bed->layer);
        bed->layer = NULL;
    }
    if (bed->fd >= 0) {
        (void) close(bed->fd);
        bed->fd = -1;
    }
}

void tls_bed_fini(struct tls_bed *bed)
{
    disconnect(bed);
    if (bed->security != NULL) {
        bed->security->destroy(bed->security);
    }
    if (bed->peer.context != NULL) {
        tls_peer_fini(&bed->peer);
    }
    wr_metrics_destroy(bed->metrics);
    certificate_fini(&bed->server);
    certificate_fini(&bed->authority);
    (void) unlink(bed->ca);
    (void) unlink(bed->cert);
    (void) unlink(bed->key);
    (void) rmdir(bed->folder);
}

void tls_bed_serve(struct tls_bed *bed, const struct tls_peer_options *options)
{
    struct tls_peer_options used = *options;

    if (used.certificate == NULL) {
        used.certificate = &bed->server;
    }
    if (bed->peer.context != NULL) {
        tls_peer_fini(&bed->peer);
    }
    tls_peer_init(&bed->peer, &used);
}

void tls_bed_secure_with(struct tls_bed *bed, struct wr_redis_tls_options options)
{
    char message[WR_REDIS_TLS_MESSAGE_SIZE] = "";

    options.metrics = bed->metrics;
    cr_assert_eq(wr_redis_tls_new(&options, &bed->security, message), WR_OK, "%s", message);
}

void tls_bed_secure(struct tls_bed *bed)
{
    tls_bed_secure_with(
        bed, (struct wr_redis_tls_options){.files = {.ca = bed->ca, .cert = "", .key = ""},
                                           .server_name = ""});
}

void tls_bed_connect(struct tls_bed *bed, const char *host)
{
    const char *reason = NULL;

    disconnect(bed);
    bed->fd = tls_peer_connect(&bed->peer);
    bed->layer = bed->security->wrap(bed->security, bed->fd, wr_str_of(host), &reason);
    cr_assert_not_null(bed->layer, "%s", reason);
}

enum wr_redis_io tls_bed_shake(struct tls_bed *bed, const char *host)
{
    tls_bed_connect(bed, host);
    for (int i = 0; i < MAX_STEPS; i++) {
        const enum wr_redis_io io = bed->layer->ops->handshake(bed->layer);

        if (io != WR_REDIS_IO_WANT_READ && io != WR_REDIS_IO_WANT_WRITE) {
            return io;
        }
        tls_peer_step(&bed->peer);
    }
    cr_assert_fail("the handshake comes to no end");
    return WR_REDIS_IO_FAILED;
}

enum wr_redis_io tls_bed_listen(struct tls_bed *bed)
{
    char byte;
    size_t n = 0;

    tls_peer_step(&bed->peer);
    return bed->layer->ops->read(bed->layer, &byte, 1, &n);
}

void tls_bed_expect_refusal(struct tls_bed *bed, const char *host, const char *part)
{
    cr_assert_eq(tls_bed_shake(bed, host), WR_REDIS_IO_FAILED, "%s", part);

    const char *const reason = bed->layer->ops->reason(bed->layer);

    cr_assert_not_null(strstr(reason, part), "\"%s\" is not in: %s", part, reason);
}
