/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_reason.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAMES_SIZE 160
#define MAX_NAMES 4
#define DATE_SIZE 32
#define WHOSE_SIZE 320

/* ---- names in a certificate; it is the server's word, so only plain characters are taken ---- */

struct names {
    char text[NAMES_SIZE];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void append(struct names *names, const char *format,
                                                         ...)
{
    const size_t used = strlen(names->text);
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(names->text + used, sizeof names->text - used, format, arguments);
    va_end(arguments);
}

static void add_name(struct names *names, const unsigned char *bytes, int len)
{
    char plain[64];
    size_t n = 0;

    for (; n < (size_t) len && n + 1 < sizeof plain; n++) {
        plain[n] = '?';
        if (bytes[n] > ' ' && bytes[n] < 0x7f) {
            plain[n] = (char) bytes[n];
        }
    }
    plain[n] = '\0';
    if (names->n++ < MAX_NAMES) {
        append(names, "%s%s", names->n > 1 ? ", " : "", plain);
    }
}

static void add_address(struct names *names, const ASN1_OCTET_STRING *octets)
{
    char text[INET6_ADDRSTRLEN];
    const int len = ASN1_STRING_length(octets);

    if ((len == 4 || len == 16) &&
        inet_ntop(len == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(octets), text,
                  sizeof text) != NULL) {
        add_name(names, (const unsigned char *) text, (int) strlen(text));
    }
}

static void add_alternatives(struct names *names, const X509 *certificate)
{
    GENERAL_NAMES *const all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        const GENERAL_NAME *const one = sk_GENERAL_NAME_value(all, i);

        if (one->type == GEN_DNS) {
            add_name(names, ASN1_STRING_get0_data(one->d.dNSName),
                     ASN1_STRING_length(one->d.dNSName));
        } else if (one->type == GEN_IPADD) {
            add_address(names, one->d.iPAddress);
        }
    }
    GENERAL_NAMES_free(all);
}

static void add_common_name(struct names *names, const X509_NAME *subject)
{
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);

    if (at >= 0) {
        const ASN1_STRING *const text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));

        add_name(names, ASN1_STRING_get0_data(text), ASN1_STRING_length(text));
    }
}

/* Whom a certificate is for. */
static void names_of(const X509 *certificate, struct names *out_names)
{
    *out_names = (struct names){0};
    add_alternatives(out_names, certificate);
    if (out_names->n == 0) {
        add_common_name(out_names, X509_get_subject_name(certificate));
    }
    if (out_names->n == 0) {
        append(out_names, "nobody");
    } else if (out_names->n > MAX_NAMES) {
        append(out_names, " and %zu more", out_names->n - MAX_NAMES);
    }
}

static void issuer_of(const X509 *certificate, struct names *out_names)
{
    *out_names = (struct names){0};
    add_common_name(out_names, X509_get_issuer_name(certificate));
    if (out_names->n == 0) {
        append(out_names, "somebody without a name");
    }
}

/* ---- a certificate that was refused ---- */

struct refusal {
    const X509 *certificate;
    const char *whose, *name, *ca_file;
    int error;
};

static void explain_name(const struct refusal *refusal, char reason[WR_REDIS_TLS_REASON_SIZE])
{
    struct names names;

    names_of(refusal->certificate, &names);
    (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE,
                    "the certificate of %s is for %s; reach it by such a name, give that as "
                    "--redis-tls-server-name, or have a certificate made for %s",
                    refusal->name, names.text, refusal->name);
}

static void date_of(const ASN1_TIME *time, char date[DATE_SIZE])
{
    struct tm parts;

    if (ASN1_TIME_to_tm(time, &parts) != 1 ||
        strftime(date, DATE_SIZE, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
        (void) snprintf(date, DATE_SIZE, "an unreadable date");
    }
}

static void explain_date(const struct refusal *refusal, char reason[WR_REDIS_TLS_REASON_SIZE])
{
    char date[DATE_SIZE];
    const bool is_over = refusal->error == X509_V_ERR_CERT_HAS_EXPIRED;

    date_of(is_over ? X509_get0_notAfter(refusal->certificate)
                    : X509_get0_notBefore(refusal->certificate),
            date);
    (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE, "%s %s %s; %s", refusal->whose,
                    is_over ? "expired on" : "is not valid before", date,
                    is_over ? "renew it on the server" : "look at the clocks here and there");
}

static void explain_issuer(const struct refusal *refusal, char reason[WR_REDIS_TLS_REASON_SIZE])
{
    struct names names;
    const bool is_system = refusal->ca_file[0] == '\0';

    issuer_of(refusal->certificate, &names);
    (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE,
                    "%s is signed by %s, which nothing in %s vouches for; %s", refusal->whose,
                    names.text, is_system ? "the system's store" : refusal->ca_file,
                    is_system ? "give that CA's certificate with --redis-tls-ca"
                              : "add that CA's certificate there");
}

static void explain(const struct refusal *refusal, char reason[WR_REDIS_TLS_REASON_SIZE])
{
    switch (refusal->error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        explain_name(refusal, reason);
        break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        explain_date(refusal, reason);
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        explain_issuer(refusal, reason);
        break;
    default:
        (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE, "%s is refused: %s", refusal->whose,
                        X509_verify_cert_error_string(refusal->error));
        break;
    }
}

void wr_redis_tls_reason_of_certificate(struct x509_store_ctx_st *store, const char *name,
                                        const char *ca_file, char reason[WR_REDIS_TLS_REASON_SIZE])
{
    char whose[WHOSE_SIZE];
    const X509 *const certificate = X509_STORE_CTX_get_current_cert(store);
    const char *const server = name[0] != '\0' ? name : "the server";
    const struct refusal refusal = {
        .certificate = certificate,
        .whose = whose,
        .name = server,
        .ca_file = ca_file,
        .error = X509_STORE_CTX_get_error(store),
    };

    if (certificate == NULL) {
        (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE, "the certificate of %s is refused: %s",
                        server, X509_verify_cert_error_string(refusal.error));
        return;
    }

    /* A root that the server sent along is its own issuer: the server's certificate is from it. */
    const bool is_above = X509_STORE_CTX_get_error_depth(store) > 0 &&
                          refusal.error != X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN;

    (void) snprintf(whose, sizeof whose, "the certificate of %s%s",
                    is_above ? "an authority above " : "", server);
    explain(&refusal, reason);
}

/* ---- errors on the way ---- */

#define NO_TLS                                                                                     \
    "the server does not speak TLS there; take the port that its tls-port names, or connect "      \
    "without TLS"
#define NOT_ACCEPTED "the server does not accept our client certificate (--redis-tls-cert)"
#define TOO_OLD "the server and this client have no version of TLS in common; 1.2 is the oldest"

static const struct {
    int code;
    const char *text;
} known[] = {
    {SSL_R_WRONG_VERSION_NUMBER, NO_TLS},
    {SSL_R_HTTP_REQUEST, NO_TLS},
    {SSL_R_PACKET_LENGTH_TOO_LONG, NO_TLS},
    {SSL_R_BAD_RECORD_TYPE, NO_TLS},
    {SSL_R_UNSUPPORTED_PROTOCOL, TOO_OLD},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, TOO_OLD},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
     "the server wants a client certificate; give --redis-tls-cert and --redis-tls-key"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,
     "the server refuses the handshake; it may want a client certificate (--redis-tls-cert and "
     "--redis-tls-key), or shares no cipher with this client"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA,
     NOT_ACCEPTED ": it does not know the CA that signed it; add that to its tls-ca-cert-file"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, NOT_ACCEPTED ": it has expired; renew it"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, NOT_ACCEPTED ": it was revoked; have a new one made"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, NOT_ACCEPTED},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, NOT_ACCEPTED},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, NOT_ACCEPTED ": it is not made for clients"},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME,
     "the server does not know the name it is called by; give the right one as "
     "--redis-tls-server-name"},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC,
     "what came was changed on its way, or is not TLS; look for a proxy between here and there"},
};

static const char *known_text(unsigned long code)
{
    if (ERR_GET_LIB(code) != ERR_LIB_SSL) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == ERR_GET_REASON(code)) {
            return known[i].text;
        }
    }
    return NULL;
}

void wr_redis_tls_reason_of_error(unsigned long code, int error, bool is_shaking,
                                  char reason[WR_REDIS_TLS_REASON_SIZE])
{
    const char *const text = known_text(code);
    const char *const openssl = ERR_reason_error_string(code);

    if (text != NULL) {
        (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE, "%s", text);
    } else if (code != 0) {
        (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE, "TLS with the server failed: %s",
                        openssl != NULL ? openssl : "unknown error");
    } else if (is_shaking) {
        (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE,
                        "the server ended the connection in the middle of the handshake (%s); "
                        "does it speak TLS there?",
                        error != 0 ? strerror(error) : "closed");
    } else {
        (void) snprintf(reason, WR_REDIS_TLS_REASON_SIZE, "%s",
                        error != 0 ? strerror(error) : "the server closed the connection");
    }
}
