/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft_file.h"

#include "base/str.h"
#include "rules/rule_files.h"

enum wr_err wr_draft_file_read(const char *path, const struct wr_config_bounds *bounds,
                               struct wr_arena *arena, struct wr_diag *diag,
                               struct wr_draft *out_draft)
{
    struct wr_file_text text;

    if (!wr_file_text_read(path, bounds->max_file_bytes, diag, &text)) {
        return WR_ERR_IO;
    }
    wr_config_yaml_parse((struct wr_str){.ptr = text.bytes, .len = text.len}, wr_str_of(path),
                         bounds, arena, diag, out_draft);
    wr_draft_check(out_draft, 0, diag);
    wr_file_text_fini(&text);
    if (out_draft->lacks_memory) {
        return WR_ERR_NO_MEMORY;
    }
    return out_draft->is_refused ? WR_ERR_MALFORMED : WR_OK;
}
