/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a server whether it serves, once or for as long as the stream lasts.
 *
 * Threads: as the stub.
 */
#ifndef WEIR_HEALTH_H
#define WEIR_HEALTH_H

#include "codec.h"
#include "stub.h"

typedef void (*weir_health_fn)(void *arg, enum weir_health health);

/* Asks once. A service that the server does not know is WEIR_HEALTH_SERVICE_UNKNOWN. */
WEIR_MUST_USE enum weir_err weir_health_check(struct weir_stub *stub, struct weir_str service,
                                              uint32_t deadline_ms, enum weir_health *out_health,
                                              struct weir_error *error);

/* Calls `on_change` with the state now and with each later one. Comes back when the stream ends,
 * always with an error: WEIR_ERR_UNAVAILABLE when the server ended it in good order. */
WEIR_MUST_USE enum weir_err weir_health_watch(struct weir_stub *stub, struct weir_str service,
                                              weir_health_fn on_change, void *arg,
                                              struct weir_error *error);

#endif
