/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_context.h"

#include <criterion/criterion.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/tls_bed.h"

#define PASSPHRASE "a secret of the tests"

/* Which text a row's file holds. */
enum content {
    NONE,   /* the option is not given */
    ABSENT, /* no such file */
    EMPTY,
    TEXT,   /* that is no PEM */
    BROKEN, /* PEM around what is no certificate or key */
    FOLDER, /* no file */
    GOOD,   /* a certificate, or its key */
    OTHER,  /* the key of another */
    LOCKED, /* the key, with a passphrase */
};

struct desk {
    struct tls_bed bed;
    struct certificate client, other;
    char absent[96];
};

static void write_text(const char *path, const char *text)
{
    FILE *const out = fopen(path, "w");

    cr_assert_not_null(out);
    cr_assert(fputs(text, out) >= 0 && fclose(out) == 0);
}

static void desk_init(struct desk *desk)
{
    tls_bed_init(&desk->bed);
    desk->client = certificate_make(
        &(struct certificate_wish){.name = "weir", .issuer = &desk->bed.authority});
    desk->other = certificate_make(&(struct certificate_wish){.name = "other"});
    (void) snprintf(desk->absent, sizeof desk->absent, "%s/absent", desk->bed.folder);
}

static void desk_fini(struct desk *desk)
{
    certificate_fini(&desk->client);
    certificate_fini(&desk->other);
    tls_bed_fini(&desk->bed);
}

/* Fills the file at `path` and gives the option's text. */
static const char *put(struct desk *desk, enum content content, const char *path, bool is_key)
{
    switch (content) {
    case NONE:
        return "";
    case ABSENT:
        return desk->absent;
    case FOLDER:
        return desk->bed.folder;
    case EMPTY:
        write_text(path, "");
        break;
    case TEXT:
        write_text(path, "secret text\n");
        break;
    case BROKEN:
        write_text(path,
                   is_key ? "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"
                          : "-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n");
        break;
    case GOOD:
        if (is_key) {
            certificate_write_key(&desk->client, path, NULL);
        } else {
            certificate_write(&desk->client, path);
        }
        break;
    case OTHER:
        certificate_write_key(&desk->other, path, NULL);
        break;
    case LOCKED:
        certificate_write_key(&desk->client, path, PASSPHRASE);
        break;
    default:
        cr_assert_fail("no such content");
    }
    return path;
}

Test(redis_tls_context, files)
{
    static const struct {
        enum content ca, cert, key;
        const char *option, *part; /* of the message; NULL: it is made */
    } rows[] = {
        {NONE, NONE, NONE, NULL, NULL},
        {GOOD, NONE, NONE, NULL, NULL},
        {GOOD, GOOD, GOOD, NULL, NULL},
        {NONE, GOOD, GOOD, NULL, NULL},
        {ABSENT, NONE, NONE, "--redis-tls-ca (REDIS_TLS_CACERT)", "No such file"},
        {FOLDER, NONE, NONE, "--redis-tls-ca (REDIS_TLS_CACERT)", "Is a directory"},
        {EMPTY, NONE, NONE, "--redis-tls-ca (REDIS_TLS_CACERT)", "PEM"},
        {TEXT, NONE, NONE, "--redis-tls-ca (REDIS_TLS_CACERT)", "PEM"},
        {BROKEN, NONE, NONE, "--redis-tls-ca (REDIS_TLS_CACERT)", "PEM"},
        {GOOD, GOOD, NONE, "--redis-tls-cert (REDIS_TLS_CLIENT_CERT)", "needs --redis-tls-key"},
        {GOOD, NONE, GOOD, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "needs --redis-tls-cert"},
        {GOOD, ABSENT, GOOD, "--redis-tls-cert (REDIS_TLS_CLIENT_CERT)", "No such file"},
        {GOOD, TEXT, GOOD, "--redis-tls-cert (REDIS_TLS_CLIENT_CERT)", "there is no such line"},
        {GOOD, BROKEN, GOOD, "--redis-tls-cert (REDIS_TLS_CLIENT_CERT)", "PEM"},
        {GOOD, GOOD, ABSENT, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "No such file"},
        {GOOD, GOOD, EMPTY, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "PRIVATE KEY"},
        {GOOD, GOOD, TEXT, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "PRIVATE KEY"},
        {GOOD, GOOD, BROKEN, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "PRIVATE KEY"},
        {GOOD, GOOD, OTHER, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "is not the key of"},
        {GOOD, GOOD, LOCKED, "--redis-tls-key (REDIS_TLS_CLIENT_KEY)", "passphrase"},
    };
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[WR_REDIS_TLS_MESSAGE_SIZE] = "";
        struct ssl_ctx_st *context = NULL;
        const struct wr_redis_tls_files files = {
            .ca = put(&desk, rows[i].ca, desk.bed.ca, false),
            .cert = put(&desk, rows[i].cert, desk.bed.cert, false),
            .key = put(&desk, rows[i].key, desk.bed.key, true),
        };
        const enum wr_err err = wr_redis_tls_context_new(&files, &context, message);

        cr_assert_eq(err, rows[i].option == NULL ? WR_OK : WR_ERR_INVALID, "row %zu: %s", i,
                     message);
        cr_assert_eq(ERR_peek_error(), 0, "row %zu left an error behind", i);
        if (rows[i].option != NULL) {
            cr_assert_null(context);
            cr_assert_eq(strncmp(message, rows[i].option, strlen(rows[i].option)), 0, "row %zu: %s",
                         i, message);
            cr_assert_not_null(strstr(message, rows[i].part), "row %zu: %s", i, message);
            cr_assert_null(strstr(message, "secret"), "row %zu: %s", i, message);
        }
        SSL_CTX_free(context);
    }
    desk_fini(&desk);
}

Test(redis_tls_context, what_it_insists_on)
{
    char message[WR_REDIS_TLS_MESSAGE_SIZE];
    struct ssl_ctx_st *context = NULL;
    const struct wr_redis_tls_files none = {.ca = "", .cert = "", .key = ""};

    cr_assert_eq(wr_redis_tls_context_new(&none, &context, message), WR_OK);
    cr_assert_eq(SSL_CTX_get_min_proto_version(context), TLS1_2_VERSION);
    cr_assert_eq(SSL_CTX_get_verify_mode(context), SSL_VERIFY_PEER);
    cr_assert_neq(SSL_CTX_get_options(context) & SSL_OP_NO_RENEGOTIATION, 0);
    SSL_CTX_free(context);
}

Test(redis_tls_context, stamps_tell_files_apart)
{
    struct desk desk;

    desk_init(&desk);

    const struct wr_redis_tls_files files = {
        .ca = desk.bed.ca, .cert = desk.bed.cert, .key = desk.bed.key};
    struct wr_redis_tls_stamps last = wr_redis_tls_files_look(&files);
    const char *const paths[] = {desk.bed.ca, desk.bed.cert, desk.bed.key};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct wr_redis_tls_stamps next = wr_redis_tls_files_look(&files);

        cr_assert(wr_redis_tls_stamps_are_equal(&last, &next), "%s", paths[i]);
        write_text(paths[i], "of another length");
        next = wr_redis_tls_files_look(&files);
        cr_assert_not(wr_redis_tls_stamps_are_equal(&last, &next), "%s", paths[i]);
        cr_assert_eq(unlink(paths[i]), 0);
        last = wr_redis_tls_files_look(&files);
        cr_assert_not(wr_redis_tls_stamps_are_equal(&last, &next), "%s", paths[i]);
    }
    desk_fini(&desk);
}
