/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a failed call into a code and a sentence that says what to do.
 *
 * Threads: pure functions.
 */
#ifndef WEIR_EXPLAIN_H
#define WEIR_EXPLAIN_H

#include "weir/client.h"

/* What is known about a call that ended with another status than OK. */
struct weir_failure {
    int status;              /* a number of gRPC */
    struct weir_str message; /* the server's words, or gRPC's own */
    const char *target;
    uint32_t deadline_ms;
    bool is_connected; /* there is a connection, so the server is to blame and not the way to it */
};

/* Returns the code; never WEIR_OK. */
enum weir_err weir_explain(const struct weir_failure *failure, struct weir_error *error);

#endif
