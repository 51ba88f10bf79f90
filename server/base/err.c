/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stddef.h>

const char *wr_err_text(enum wr_err err)
{
    static const char *const texts[] = {
#define WR_ERR_TEXT(name, text) [name] = (text),
        WR_ERR_TABLE(WR_ERR_TEXT)
#undef WR_ERR_TEXT
    };

    return (size_t) err < sizeof texts / sizeof texts[0] ? texts[err] : "unknown error";
}
