/* SPDX-License-Identifier: Apache-2.0 */
#include "option_idle.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "option_row.h"

static bool is_any_set(struct wr_str prefix)
{
    extern char **environ;

    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        const size_t name_len = strcspn(*variable, "=");

        if (wr_str_has_prefix(wr_str_of(*variable), prefix) && (*variable)[name_len] == '=' &&
            (*variable)[name_len + 1] != '\0') {
            return true;
        }
    }
    return false;
}

/* To something that differs from what is so anyway. */
static bool is_set(const struct wr_option_row *row)
{
    const struct wr_str name = wr_str_of(row->variable);

    if (name.ptr[name.len - 1] == '*') {
        return is_any_set((struct wr_str){.ptr = name.ptr, .len = name.len - 1});
    }

    const char *const text = getenv(row->variable);

    return text != NULL && *text != '\0' &&
           (row->idle_text == NULL || !wr_option_means(text, row->idle_text));
}

/* Writes `begin` and the names of the variables of `kind` that are set; false when there is none,
 * and nothing is written. */
static bool name_set(enum wr_option_kind kind, const char *begin, FILE *err)
{
    bool has_any = false;

    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        if (wr_option_rows[i].kind == kind && is_set(&wr_option_rows[i])) {
            fprintf(err, "%s%s", has_any ? ", " : begin, wr_option_rows[i].variable);
            has_any = true;
        }
    }
    return has_any;
}

/* The incumbent asks nobody for a certificate then, whatever the other variables say. */
static bool is_plaintext_meant(void)
{
    const char *const text = getenv("GRPC_SERVER_USE_TLS");

    return text != NULL && wr_option_means(text, "false");
}

bool wr_idle_options_allow(FILE *err)
{
    if (is_plaintext_meant() ||
        !name_set(WR_OPTION_SERVER_TLS, "weir: TLS is asked for by ", err)) {
        return true;
    }
    fprintf(err, ", but this version serves gRPC in plaintext only, and does not open what was to "
                 "be closed; unset that (or say GRPC_SERVER_USE_TLS=false), and put weir behind a "
                 "proxy or a mesh that speaks TLS, or serve on a loopback address or a Unix socket "
                 "(--grpc-listen)\n");
    return false;
}

void wr_idle_options_warn(FILE *err)
{
    static const char begin[] =
        "weir: warning: these variables of envoyproxy/ratelimit have no effect in this version: ";
    const bool has_ignored = name_set(WR_OPTION_IGNORED, begin, err);
    const bool has_tls = name_set(WR_OPTION_SERVER_TLS, has_ignored ? ", " : begin, err);

    if (has_ignored || has_tls) {
        fprintf(err, "\n");
    }
}
