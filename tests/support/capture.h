/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test's process writes to stderr between start and stop.
 *
 * Threads: one thread.
 */
#ifndef WR_TESTS_SUPPORT_CAPTURE_H
#define WR_TESTS_SUPPORT_CAPTURE_H

struct capture {
    int saved, reader;
    char text[16384]; /* after stop; terminated */
};

void capture_start(struct capture *capture);

void capture_stop(struct capture *capture);

#endif
