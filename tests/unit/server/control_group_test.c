/* SPDX-License-Identifier: Apache-2.0 */
#include "control_group.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct seen {
    int n;
    char last[640];
};

static void note(void *context, const char *path)
{
    struct seen *const seen = context;

    cr_assert_eq(strncmp(path, "/sys/fs/cgroup/", 15), 0, "%s", path);
    cr_assert(seen->n == 0 || strlen(path) < strlen(seen->last), "%s is above %s", path,
              seen->last);
    (void) snprintf(seen->last, sizeof seen->last, "%s", path);
    seen->n++;
}

Test(control_group, is_looked_at_up_to_the_root)
{
    struct seen seen = {0};

    wr_control_group_walk("some.max", note, &seen);
    cr_assert_geq(seen.n, 1);
    cr_assert_str_eq(seen.last, "/sys/fs/cgroup/some.max");
}
