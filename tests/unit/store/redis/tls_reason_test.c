/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_reason.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

/* What is wrong with certificates is told by the tests of the layer. */
Test(redis_tls_reason, errors)
{
    static const struct {
        int library, code, error;
        bool is_shaking;
        const char *part;
    } rows[] = {
        {ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER, 0, true, "does not speak TLS"},
        {ERR_LIB_SSL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, 0, true, "1.2 is the oldest"},
        {ERR_LIB_SSL, SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, 0, false, "--redis-tls-cert"},
        {ERR_LIB_SSL, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, 0, true, "--redis-tls-cert"},
        {ERR_LIB_SSL, SSL_R_TLSV1_ALERT_UNKNOWN_CA, 0, false, "tls-ca-cert-file"},
        {ERR_LIB_SSL, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, 0, false, "has expired"},
        {ERR_LIB_SSL, SSL_R_TLSV1_UNRECOGNIZED_NAME, 0, true, "--redis-tls-server-name"},
        {ERR_LIB_SSL, SSL_R_NO_SHARED_GROUPS, 0, true, "TLS with the server failed: no shared"},
        {ERR_LIB_BIO, SSL_R_WRONG_VERSION_NUMBER, 0, true, "TLS with the server failed: "},
        {0, 0, ECONNRESET, true, "in the middle of the handshake (Connection reset by peer)"},
        {0, 0, 0, true, "in the middle of the handshake (closed)"},
        {0, 0, ECONNRESET, false, "Connection reset by peer"},
        {0, 0, 0, false, "the server closed the connection"},
    };

    cr_assert_eq(OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, NULL), 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char reason[WR_REDIS_TLS_REASON_SIZE];

        wr_redis_tls_reason_of_error(ERR_PACK(rows[i].library, 0, rows[i].code), rows[i].error,
                                     rows[i].is_shaking, reason);
        cr_assert_not_null(strstr(reason, rows[i].part), "row %zu: %s", i, reason);
    }
}
