/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to bytes and back: the check and the health of a server. No heap: requests are written
 * from borrowed texts into the caller's bytes, replies read into bounded structs; what a reply has
 * beyond them is skipped.
 *
 * Threads: pure functions.
 */
#ifndef WEIR_CODEC_H
#define WEIR_CODEC_H

#include "weir/client.h"

/* Numbers of grpc.health.v1. */
enum weir_health {
    WEIR_HEALTH_UNKNOWN = 0,
    WEIR_HEALTH_SERVING = 1,
    WEIR_HEALTH_NOT_SERVING = 2,
    WEIR_HEALTH_SERVICE_UNKNOWN = 3,
};

/* "SERVING", …; never NULL. */
const char *weir_health_name(enum weir_health health);

/* Bytes that weir_codec_put_request writes. */
size_t weir_codec_request_size(const struct weir_request *request);

/* Writes the request into `bytes`, which holds exactly `len` = its size; false if it does not. */
WEIR_MUST_USE bool weir_codec_put_request(const struct weir_request *request, uint8_t *bytes,
                                          size_t len);

/*
 * Reads a reply into `out`'s overall code, statuses and retry-after; the rest of it is not touched.
 * Codes and units come as they are sent, known or not. False for bytes that are no such message:
 * then `out` holds what came before the fault.
 */
WEIR_MUST_USE bool weir_codec_get_reply(const uint8_t *bytes, size_t len, struct weir_result *out);

/* Only a reply's overall code, at little cost, also of a reply that was cut off behind it;
 * WEIR_CODE_UNKNOWN when it has none. */
enum weir_code weir_codec_get_verdict(const uint8_t *bytes, size_t len);

size_t weir_codec_health_size(struct weir_str service);

WEIR_MUST_USE bool weir_codec_put_health(struct weir_str service, uint8_t *bytes, size_t len);

/* Any number that is not in the enum becomes WEIR_HEALTH_UNKNOWN. */
WEIR_MUST_USE bool weir_codec_get_health(const uint8_t *bytes, size_t len,
                                         enum weir_health *out_health);

#endif
