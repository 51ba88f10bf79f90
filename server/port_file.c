/* SPDX-License-Identifier: Apache-2.0 */
#include "port_file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum wr_err wr_port_file_write(const char *path, const struct wr_port_line *lines, size_t n)
{
    char temporary[4096];
    struct stat old;
    const int len = snprintf(temporary, sizeof temporary, "%s.%ld", path, (long) getpid());

    if (len < 0 || (size_t) len >= sizeof temporary) {
        errno = ENAMETOOLONG;
        return WR_ERR_IO;
    }
    /* A device or a pipe is not to be replaced by a file. */
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
        errno = EEXIST;
        return WR_ERR_IO;
    }

    FILE *const file = fopen(temporary, "we");

    if (file == NULL) {
        return WR_ERR_IO;
    }
    for (size_t i = 0; i < n; i++) {
        (void) fprintf(file, "%s %s\n", lines[i].name, lines[i].address);
    }

    const int failed = ferror(file);

    if (fclose(file) != 0 || failed != 0 || rename(temporary, path) != 0) {
        const int reason = errno;

        (void) unlink(temporary);
        errno = reason;
        return WR_ERR_IO;
    }
    return WR_OK;
}
