/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls.h"

#include <criterion/criterion.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"
#include "tests/support/capture.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/tls_bed.h"

static const struct tls_peer_options plain_peer;

static struct wr_redis_tls_files ca_only(const struct tls_bed *bed)
{
    return (struct wr_redis_tls_files){.ca = bed->ca, .cert = "", .key = ""};
}

/* In place of the file at `path`, as another file: by its inode the change is always seen. */
static void replace(const struct tls_bed *bed, const struct certificate *certificate, bool is_key,
                    const char *path)
{
    char fresh[96];

    (void) snprintf(fresh, sizeof fresh, "%s/fresh.pem", bed->folder);
    if (is_key) {
        certificate_write_key(certificate, fresh, NULL);
    } else {
        certificate_write(certificate, fresh);
    }
    cr_assert_eq(rename(fresh, path), 0);
}

static uint64_t loads(const struct tls_bed *bed)
{
    return wr_metrics_sum(bed->metrics, WR_METRIC_REDIS_TLS_LOADS);
}

static uint64_t load_errors(const struct tls_bed *bed)
{
    return wr_metrics_sum(bed->metrics, WR_METRIC_REDIS_TLS_LOAD_ERRORS);
}

Test(redis_tls, names)
{
    static const struct {
        const char *host, *server_name;
        bool has_any_name;
        const char *refusal; /* NULL: fine */
    } rows[] = {
        {TLS_BED_HOST, "", false, NULL},
        {"REDIS.example", "", false, NULL},
        {TLS_BED_HOST ".", "", false, NULL},
        {"10.1.2.3", "", false, NULL},
        {"other.example", "", false,
         "the certificate of other.example is for redis.example, 10.1.2.3; "},
        {"10.1.2.4", "", false, "the certificate of 10.1.2.4 is for redis.example, 10.1.2.3; "},
        {"::1", "", false, "the certificate of ::1 is for redis.example"},
        {"redis", "", false, "the certificate of redis is for redis.example"},
        {"other.example", TLS_BED_HOST, false, NULL},
        {"10.9.9.9", TLS_BED_HOST, false, NULL},
        {"", TLS_BED_HOST, false, NULL},
        {TLS_BED_HOST, "third.example", false, "the certificate of third.example is for "},
        {"other.example", "", true, NULL},
        {"", "", true, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tls_bed bed;

        tls_bed_init(&bed);
        tls_bed_serve(&bed, &plain_peer);
        tls_bed_secure_with(&bed,
                            (struct wr_redis_tls_options){.files = ca_only(&bed),
                                                          .server_name = rows[i].server_name,
                                                          .has_any_name = rows[i].has_any_name});
        if (rows[i].refusal != NULL) {
            tls_bed_expect_refusal(&bed, rows[i].host, rows[i].refusal);
        } else {
            cr_assert_eq(tls_bed_shake(&bed, rows[i].host), WR_REDIS_IO_DONE, "row %zu: %s", i,
                         bed.layer->ops->reason(bed.layer));
        }
        tls_bed_fini(&bed);
    }
}

Test(redis_tls, any_name_is_no_excuse_for_another_authority)
{
    struct tls_bed bed;
    struct certificate stranger;

    tls_bed_init(&bed);
    stranger = certificate_make(&(struct certificate_wish){.name = TLS_BED_HOST});
    tls_bed_serve(&bed, &(struct tls_peer_options){.certificate = &stranger});
    tls_bed_secure_with(&bed, (struct wr_redis_tls_options){
                                  .files = ca_only(&bed), .server_name = "", .has_any_name = true});
    tls_bed_expect_refusal(&bed, TLS_BED_HOST, "is signed by redis.example");
    tls_bed_fini(&bed);
    certificate_fini(&stranger);
}

/* Servers with several certificates choose by it; an address may not stand there. */
Test(redis_tls, names_are_told_and_addresses_are_not)
{
    struct tls_bed bed;

    tls_bed_init(&bed);
    tls_bed_serve(&bed, &plain_peer);
    tls_bed_secure(&bed);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    cr_assert_str_eq(SSL_get_servername(bed.peer.ssl, TLSEXT_NAMETYPE_host_name), TLS_BED_HOST);
    cr_assert_eq(tls_bed_shake(&bed, "10.1.2.3"), WR_REDIS_IO_DONE);
    cr_assert_null(SSL_get_servername(bed.peer.ssl, TLSEXT_NAMETYPE_host_name));
    tls_bed_fini(&bed);
}

Test(redis_tls, hosts_that_no_certificate_can_be_for)
{
    static const char long_name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const struct {
        struct wr_str host;
        const char *part;
    } rows[] = {
        {WR_STR(""), "--redis-tls-server-name"},
        {WR_STR(long_name), "longer"},
        {WR_STR("a\0b"), "no certificate"},
    };
    struct tls_bed bed;

    tls_bed_init(&bed);
    tls_bed_secure(&bed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = NULL;

        cr_assert_null(bed.security->wrap(bed.security, 0, rows[i].host, &reason));
        cr_assert_not_null(strstr(reason, rows[i].part), "%s", reason);
    }
    tls_bed_fini(&bed);
}

static struct certificate new_authority(void)
{
    return certificate_make(&(struct certificate_wish){.name = "New CA", .is_authority = true});
}

/* The CA is replaced, as a rotation does: from the next connection on the new one holds. */
Test(redis_tls, a_changed_file_is_used_by_the_next_connection)
{
    struct tls_bed bed;
    struct certificate authority, server;

    tls_bed_init(&bed);
    authority = new_authority();
    server = certificate_make(&(struct certificate_wish){
        .name = "redis", .alternatives = "DNS:" TLS_BED_HOST, .issuer = &authority});
    tls_bed_secure(&bed);
    tls_bed_serve(&bed, &(struct tls_peer_options){.certificate = &server});
    tls_bed_expect_refusal(&bed, TLS_BED_HOST, "is signed by New?CA");
    cr_assert_eq(loads(&bed), 0);
    replace(&bed, &authority, false, bed.ca);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    cr_assert_eq(loads(&bed), 1);
    tls_bed_serve(&bed, &plain_peer);
    tls_bed_expect_refusal(&bed, TLS_BED_HOST, "is signed by Test?CA");
    cr_assert_eq(loads(&bed), 1, "unchanged files were read again");
    tls_bed_fini(&bed);
    certificate_fini(&server);
    certificate_fini(&authority);
}

static void write_text(const char *path, const char *text)
{
    FILE *const out = fopen(path, "w");

    cr_assert_not_null(out);
    cr_assert(fputs(text, out) >= 0 && fclose(out) == 0);
}

Test(redis_tls, a_broken_file_is_told_once_and_what_was_read_stays)
{
    static const char *const broken[] = {"no certificate", "", NULL};
    struct tls_bed bed;
    struct capture capture;

    tls_bed_init(&bed);
    tls_bed_serve(&bed, &plain_peer);
    tls_bed_secure(&bed);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        if (broken[i] != NULL) {
            write_text(bed.ca, broken[i]);
        } else {
            cr_assert_eq(unlink(bed.ca), 0);
        }
        capture_start(&capture);
        for (int times = 0; times < 3; times++) {
            cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
        }
        capture_stop(&capture);

        const char *const line = strstr(capture.text, "--redis-tls-ca");

        cr_assert_not_null(line, "%s", capture.text);
        cr_assert_not_null(strstr(line, "stays in use"), "%s", capture.text);
        cr_assert_null(strstr(line + 1, "--redis-tls-ca"), "told again: %s", capture.text);
        cr_assert_eq(load_errors(&bed), i + 1);
    }
    replace(&bed, &bed.authority, false, bed.ca);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    cr_assert_eq(loads(&bed), 1);
    tls_bed_fini(&bed);
}

/* Certificate and key are two files: between their changes they do not belong together. */
Test(redis_tls, a_pair_that_changes_one_by_one)
{
    struct tls_bed bed;
    struct certificate old, new;
    const struct certificate_wish wish = {.name = "weir", .issuer = &bed.authority};

    tls_bed_init(&bed);
    old = certificate_make(&wish);
    new = certificate_make(&wish);
    certificate_write(&old, bed.cert);
    certificate_write_key(&old, bed.key, NULL);
    tls_bed_serve(&bed, &(struct tls_peer_options){.client_ca = &bed.authority});
    tls_bed_secure_with(
        &bed, (struct wr_redis_tls_options){
                  .files = {.ca = bed.ca, .cert = bed.cert, .key = bed.key}, .server_name = ""});
    replace(&bed, &new, false, bed.cert);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    cr_assert_eq(tls_bed_listen(&bed), WR_REDIS_IO_WANT_READ);
    cr_assert_eq(load_errors(&bed), 1);
    replace(&bed, &new, true, bed.key);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);
    cr_assert_eq(tls_bed_listen(&bed), WR_REDIS_IO_WANT_READ);
    cr_assert_eq(loads(&bed), 1);

    X509 *const shown = SSL_get1_peer_certificate(bed.peer.ssl);

    cr_assert_eq(X509_cmp(shown, new.x509), 0, "the old certificate was shown");
    X509_free(shown);
    tls_bed_fini(&bed);
    certificate_fini(&old);
    certificate_fini(&new);
}

Test(redis_tls, a_connection_outlives_the_files_that_it_was_made_with)
{
    struct tls_bed bed;
    char byte = 'x';
    size_t n = 0;

    tls_bed_init(&bed);
    tls_bed_serve(&bed, &plain_peer);
    tls_bed_secure(&bed);
    cr_assert_eq(tls_bed_shake(&bed, TLS_BED_HOST), WR_REDIS_IO_DONE);

    struct certificate authority = new_authority();
    const char *reason = NULL;

    replace(&bed, &authority, false, bed.ca);

    struct wr_redis_layer *const next =
        bed.security->wrap(bed.security, bed.fd, wr_str_of(TLS_BED_HOST), &reason);

    cr_assert_not_null(next);
    cr_assert_eq(loads(&bed), 1);
    next->ops->destroy(next);
    cr_assert_eq(bed.layer->ops->write(bed.layer, &byte, 1, &n), WR_REDIS_IO_DONE);
    cr_assert_eq(tls_bed_listen(&bed), WR_REDIS_IO_DONE);
    tls_bed_fini(&bed);
    certificate_fini(&authority);
}

static bool is_resumed(struct tls_bed *bed, const char *host)
{
    cr_assert_eq(tls_bed_shake(bed, host), WR_REDIS_IO_DONE);
    cr_assert_eq(tls_bed_listen(bed), WR_REDIS_IO_WANT_READ);
    return SSL_session_reused(bed->peer.ssl) == 1;
}

Test(redis_tls, sessions_are_gone_on_with)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        struct tls_bed bed;

        tls_bed_init(&bed);
        tls_bed_serve(&bed, &(struct tls_peer_options){.max_version = versions[i]});
        tls_bed_secure(&bed);
        cr_assert_not(is_resumed(&bed, TLS_BED_HOST));
        cr_assert(is_resumed(&bed, TLS_BED_HOST));
        cr_assert(is_resumed(&bed, TLS_BED_HOST));
        cr_assert_not(is_resumed(&bed, "10.1.2.3"), "a name was not checked");
        tls_bed_expect_refusal(&bed, "other.example", "is for redis.example");
        tls_bed_serve(&bed, &(struct tls_peer_options){.max_version = versions[i]});
        cr_assert_not(is_resumed(&bed, TLS_BED_HOST), "the server has forgotten its key");
        cr_assert(is_resumed(&bed, TLS_BED_HOST));
        replace(&bed, &bed.authority, false, bed.ca);
        cr_assert_not(is_resumed(&bed, TLS_BED_HOST), "a session outlived its CA");
        tls_bed_fini(&bed);
    }
}

Test(redis_tls, memory_that_runs_out)
{
    struct tls_bed bed;
    char message[WR_REDIS_TLS_MESSAGE_SIZE];
    size_t n = 0;
    enum wr_err err;

    tls_bed_init(&bed);

    const struct wr_redis_tls_options options = {
        .files = ca_only(&bed), .server_name = "", .metrics = bed.metrics};

    do {
        failing_malloc_start(n++);
        err = wr_redis_tls_new(&options, &bed.security, message);
        failing_malloc_stop();
        cr_assert(err == WR_OK || err == WR_ERR_NO_MEMORY, "%d", (int) err);
    } while (err != WR_OK);
    cr_assert_gt(n, 1);
    tls_bed_serve(&bed, &plain_peer);
    bed.fd = tls_peer_connect(&bed.peer);

    const char *reason = NULL;

    failing_malloc_start(0);
    bed.layer = bed.security->wrap(bed.security, bed.fd, wr_str_of(TLS_BED_HOST), &reason);
    failing_malloc_stop();
    cr_assert_null(bed.layer);
    cr_assert_not_null(strstr(reason, "memory"));
    tls_bed_fini(&bed);
}
