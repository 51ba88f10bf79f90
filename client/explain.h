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
    bool was_sent;     /* a connection took the call; else nothing of it left this process */
    bool is_connected; /* there is a connection, so the server is to blame and not the way to it */
};

/* Do these words of C core's own, never a server's, say that a call was not sent. */
bool weir_explain_is_unsent(struct weir_str message);

/* Returns the code; never WEIR_OK. */
enum weir_err weir_explain(const struct weir_failure *failure, struct weir_error *error);

#endif
