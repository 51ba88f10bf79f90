/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the response of a control plane: it is no response, or it is answered, refused or
 * not; and the same once more is answered alike and changes nothing.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/diag.h"
#include "rules/rules.h"
#include "xds/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum wr_err take(struct wr_xds_session *session, struct wr_str response,
                        struct wr_arena *arena, struct wr_xds_answer *answer)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 16);

    const enum wr_err err = wr_xds_session_take(session, response, 0, arena, &diag, answer);

    WR_ASSERT(err == WR_OK || err == WR_ERR_MALFORMED);
    if (err == WR_OK) {
        WR_ASSERT(answer->request.len > 0);
        WR_ASSERT(answer->is_repeat || answer->is_refused == (diag.n_errors > 0));
        WR_ASSERT(answer->is_refused || answer->change.n_refused == 0);
    }
    wr_diag_fini(&diag);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct wr_load_options load = {
        .bounds = {.max_file_bytes = 1 << 14, .max_depth = 8, .max_nodes = 1 << 10}};
    static const struct wr_discovery_node node = {.id = WR_STR("n")};
    static const struct wr_pauses pauses = {.min_us = 1, .max_us = 1};
    const struct wr_str response = {.ptr = (const char *) data, .len = size};
    struct wr_xds_session session;
    struct wr_xds_answer first = {0}, again = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, 4096);
    WR_ASSERT(wr_xds_session_init(&session, &node, &load, &pauses) == WR_OK);

    const enum wr_err err = take(&session, response, &arena, &first);

    WR_ASSERT(take(&session, response, &arena, &again) == err);
    if (err == WR_OK) {
        WR_ASSERT(again.is_repeat && again.change.rules == NULL);
        WR_ASSERT(again.is_refused == first.is_refused);
    }
    wr_rules_release(first.change.rules);
    wr_xds_session_fini(&session);
    wr_arena_fini(&arena);
    return 0;
}
