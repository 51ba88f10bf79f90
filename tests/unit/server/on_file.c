/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/server/on_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_on_file(run_command_fn run, const char *yaml, bool is_strict, char *said, size_t size)
{
    char path[] = "/tmp/weir-on-file-XXXXXX";
    const int fd = mkstemp(path);
    const char *const operands[] = {path};
    const struct wr_command_line line = {
        .options = {.max_rules_file_bytes = 1 << 20,
                    .max_rules_depth = 64,
                    .max_rules_nodes = 10000,
                    .is_strict = is_strict},
        .operands = operands,
        .n_operands = 1,
    };
    FILE *const out = fmemopen(said, size, "w");

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, yaml, strlen(yaml)), (ssize_t) strlen(yaml));
    cr_assert_eq(close(fd), 0);

    const int code = run(&line, out, out);

    fclose(out);
    cr_assert_eq(unlink(path), 0);
    return code;
}
