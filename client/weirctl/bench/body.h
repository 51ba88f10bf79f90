/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a request as they travel, for any number of keys: encoded once, after which a key is
 * a few digits written into a copy.
 *
 * Threads: a body is immutable; a copy belongs to one thread.
 */
#ifndef WEIRCTL_BENCH_BODY_H
#define WEIRCTL_BENCH_BODY_H

#include "weir/client.h"

#define WEIRCTL_KEYS_MAX 100000000

struct weirctl_body {
    uint8_t *bytes; /* owned: gRPC's prefix and the message, of key 0 */
    size_t len;
    unsigned int digits;                 /* of a key; 0: there is one key, without a number */
    size_t places[WEIR_DESCRIPTORS_MAX]; /* where they stand */
    size_t place_count;
};

/*
 * With more than one key, "-" and the key's number, of as many digits as the largest, follow the
 * last value of each descriptor. WEIR_ERR_MEMORY, or what is wrong with the request; `out` is then
 * untouched.
 */
WEIR_MUST_USE enum weir_err weirctl_body_init(struct weirctl_body *out,
                                              const struct weir_request *request, uint32_t keys);

void weirctl_body_fini(struct weirctl_body *body);

/* Makes `copy`, of the body's length and bytes, the request of another key. */
void weirctl_body_set_key(const struct weirctl_body *body, uint8_t *copy, uint32_t key);

#endif
