/* SPDX-License-Identifier: Apache-2.0 */
#include "port_file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Test(port_file, holds_a_line_a_listener_and_leaves_nothing_else)
{
    const struct wr_port_line lines[] = {{"grpc", "127.0.0.1:1234"}, {"grpc", "unix:/x"}};
    char dir[] = "/tmp/weir-port-XXXXXX", path[64], text[128] = "";

    cr_assert_not_null(mkdtemp(dir));
    (void) snprintf(path, sizeof path, "%s/ports", dir);
    cr_assert_eq(wr_port_file_write(path, lines, 2), WR_OK);

    FILE *const file = fopen(path, "re");

    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    cr_assert_str_eq(text, "grpc 127.0.0.1:1234\ngrpc unix:/x\n");
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rmdir(dir), 0, "a file was left beside it");
}

Test(port_file, replaces_no_device)
{
    cr_assert_eq(wr_port_file_write("/dev/null", NULL, 0), WR_ERR_IO);
    cr_assert_eq(errno, EEXIST);
}

Test(port_file, says_why_it_cannot_be_written)
{
    cr_assert_eq(wr_port_file_write("/nowhere/at/all", NULL, 0), WR_ERR_IO);
    cr_assert_eq(errno, ENOENT);
}
