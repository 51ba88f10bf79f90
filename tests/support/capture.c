/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/capture.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"

void capture_start(struct capture *capture)
{
    int ends[2];

    WR_ASSERT(pipe(ends) == 0);
    WR_ASSERT(fcntl(ends[0], F_SETFL, O_NONBLOCK) != -1);
    capture->saved = dup(STDERR_FILENO);
    capture->reader = ends[0];
    WR_ASSERT(dup2(ends[1], STDERR_FILENO) != -1);
    WR_ASSERT(close(ends[1]) == 0);
}

void capture_stop(struct capture *capture)
{
    WR_ASSERT(dup2(capture->saved, STDERR_FILENO) != -1);

    const ssize_t n = read(capture->reader, capture->text, sizeof capture->text - 1);

    capture->text[n > 0 ? n : 0] = '\0';
    WR_ASSERT(close(capture->reader) == 0);
    WR_ASSERT(close(capture->saved) == 0);
}
