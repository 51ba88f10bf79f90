/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `weir` with a store that answers late, from a thread of its own and in another order:
 * what a remote store does to every call. Set by SLOW_DELAY_US, SLOW_TIMEOUT_US, SLOW_NEVER_EVERY
 * and SLOW_ORDER (in-order, reversed, shuffled).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "app.h"
#include "program.h"
#include "store/backend.h"
#include "tests/support/slow_backend.h"

static int64_t number(const char *variable, int64_t otherwise)
{
    const char *const text = getenv(variable);
    int64_t value = otherwise;

    if (text != NULL && sscanf(text, "%" SCNd64, &value) != 1) {
        fprintf(stderr, "weir_slow_store: %s: '%s' is no number\n", variable, text);
        exit(EXIT_FAILURE);
    }
    return value;
}

static enum wr_slow_order order(void)
{
    const char *const text = getenv("SLOW_ORDER");

    if (text == NULL || strcmp(text, "shuffled") == 0) {
        return WR_SLOW_SHUFFLED;
    }
    return strcmp(text, "reversed") == 0 ? WR_SLOW_REVERSED : WR_SLOW_IN_ORDER;
}

static int new_backend(const struct wr_store_frame *frame, struct wr_backend **out_backend)
{
    const struct wr_slow_options slow = {
        .delay_us = number("SLOW_DELAY_US", 200),
        .timeout_us = number("SLOW_TIMEOUT_US", 50000),
        .order = order(),
        .never_every = (unsigned) number("SLOW_NEVER_EVERY", 0),
        .seed = 1,
    };
    struct wr_backend *local = NULL;
    const int code = wr_store_choose(frame, &local);

    if (code != EX_OK) {
        return code;
    }

    const enum wr_err err = wr_slow_backend_new(&slow, &local, frame->metrics, out_backend);

    wr_backend_destroy(local);
    return err == WR_OK ? EX_OK : EX_OSERR;
}

int main(int argc, char **argv)
{
    return wr_program(argc, argv, new_backend);
}
