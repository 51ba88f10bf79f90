/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of a test's own, made in memory and written where they are wanted. What cannot be
 * made ends the process.
 *
 * Threads: one thread.
 */
#ifndef WR_TESTS_SUPPORT_CERTIFICATES_H
#define WR_TESTS_SUPPORT_CERTIFICATES_H

#include <stdbool.h>

struct certificate {
    struct x509_st *x509;
    struct evp_pkey_st *key;
};

struct certificate_wish {
    const char *name;                 /* common name */
    const char *alternatives;         /* as DNS:a.example,IP:10.0.0.1; NULL: none */
    const struct certificate *issuer; /* NULL: itself */
    bool is_authority;
    long begin_s, end_s; /* from now; both 0: an hour ago, in an hour */
};

struct certificate certificate_make(const struct certificate_wish *wish);

void certificate_fini(struct certificate *certificate);

/* PEM, in place of what `path` holds. */
void certificate_write(const struct certificate *certificate, const char *path);

/* `passphrase` NULL: none. */
void certificate_write_key(const struct certificate *certificate, const char *path,
                           const char *passphrase);

#endif
