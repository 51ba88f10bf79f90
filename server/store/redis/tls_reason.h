/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why TLS with a server failed, in a sentence for the person who has to mend it.
 *
 * Threads: pure functions, save that OpenSSL's errors are those of the calling thread.
 */
#ifndef WR_STORE_REDIS_TLS_REASON_H
#define WR_STORE_REDIS_TLS_REASON_H

#include <stdbool.h>

struct x509_store_ctx_st;

/* Holds every reason; a longer one is cut. */
#define WR_REDIS_TLS_REASON_SIZE 768

/* What is wrong with the certificate that `store` has just refused, of the server that is called
 * `name`; empty: it has none. `ca_file` empty: the system's. */
void wr_redis_tls_reason_of_certificate(struct x509_store_ctx_st *store, const char *name,
                                        const char *ca_file, char reason[WR_REDIS_TLS_REASON_SIZE]);

/* What OpenSSL's error `code` means; 0: `error`, an errno, 0 as well: the server closed.
 * `is_shaking`: before the end of the handshake. */
void wr_redis_tls_reason_of_error(unsigned long code, int error, bool is_shaking,
                                  char reason[WR_REDIS_TLS_REASON_SIZE]);

#endif
