/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

static void set_names(X509 *x509, const struct certificate_wish *wish)
{
    X509_NAME *const subject = X509_get_subject_name(x509);
    const X509 *const issuer = wish->issuer != NULL ? wish->issuer->x509 : x509;

    WR_ASSERT(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                         (const unsigned char *) wish->name, -1, -1, 0) == 1);
    WR_ASSERT(X509_set_issuer_name(x509, X509_get_subject_name(issuer)) == 1);
}

static void add_extension(X509 *x509, int kind, const char *value)
{
    X509_EXTENSION *const extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);

    WR_ASSERT(extension != NULL && X509_add_ext(x509, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static void set_dates(X509 *x509, const struct certificate_wish *wish)
{
    const bool is_usual = wish->begin_s == 0 && wish->end_s == 0;

    WR_ASSERT(X509_gmtime_adj(X509_getm_notBefore(x509), is_usual ? -3600 : wish->begin_s) != NULL);
    WR_ASSERT(X509_gmtime_adj(X509_getm_notAfter(x509), is_usual ? 3600 : wish->end_s) != NULL);
}

struct certificate certificate_make(const struct certificate_wish *wish)
{
    const struct certificate made = {.x509 = X509_new(), .key = EVP_EC_gen("P-256")};

    WR_ASSERT(made.x509 != NULL && made.key != NULL);
    WR_ASSERT(X509_set_version(made.x509, X509_VERSION_3) == 1);
    WR_ASSERT(ASN1_INTEGER_set(X509_get_serialNumber(made.x509), 1) == 1);
    WR_ASSERT(X509_set_pubkey(made.x509, made.key) == 1);
    set_names(made.x509, wish);
    set_dates(made.x509, wish);
    add_extension(made.x509, NID_basic_constraints,
                  wish->is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (wish->alternatives != NULL) {
        add_extension(made.x509, NID_subject_alt_name, wish->alternatives);
    }
    WR_ASSERT(X509_sign(made.x509, wish->issuer != NULL ? wish->issuer->key : made.key,
                        EVP_sha256()) > 0);
    return made;
}

void certificate_fini(struct certificate *certificate)
{
    X509_free(certificate->x509);
    EVP_PKEY_free(certificate->key);
    *certificate = (struct certificate){0};
}

void certificate_write(const struct certificate *certificate, const char *path)
{
    FILE *const out = fopen(path, "w");

    WR_ASSERT(out != NULL && PEM_write_X509(out, certificate->x509) == 1);
    WR_ASSERT(fclose(out) == 0);
}

void certificate_write_key(const struct certificate *certificate, const char *path,
                           const char *passphrase)
{
    FILE *const out = fopen(path, "w");

    WR_ASSERT(out != NULL);
    WR_ASSERT(PEM_write_PKCS8PrivateKey(
                  out, certificate->key, passphrase != NULL ? EVP_aes_128_cbc() : NULL, passphrase,
                  passphrase != NULL ? (int) strlen(passphrase) : 0, NULL, NULL) == 1);
    WR_ASSERT(fclose(out) == 0);
}
