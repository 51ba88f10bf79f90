/* SPDX-License-Identifier: Apache-2.0 */
#include "control_group.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* As "/a/b"; empty when it stands in the root, or in none. */
static void read_group(char *group, size_t size)
{
    FILE *const file = fopen("/proc/self/cgroup", "re");
    char line[512];

    group[0] = '\0';
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            (void) snprintf(group, size, "%s", strcmp(line + 3, "/") == 0 ? "" : line + 3);
        }
    }
    (void) fclose(file);
}

void wr_control_group_walk(const char *file, wr_control_group_fn see, void *context)
{
    char group[512], path[640];

    read_group(group, sizeof group);
    for (;;) {
        (void) snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
        see(context, path);

        char *const slash = strrchr(group, '/');

        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}
