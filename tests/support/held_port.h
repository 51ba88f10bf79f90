/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports of 127.0.0.1 for what is started later, or ends and is started again: a port that is only
 * looked for may be another's by then, also as the near end of a connection to it.
 *
 * Threads: any thread.
 */
#ifndef WR_TESTS_SUPPORT_HELD_PORT_H
#define WR_TESTS_SUPPORT_HELD_PORT_H

#include <stdint.h>

/* One that nobody else is given until this process ends: it is bound, and nobody listens there.
 * Servers, which set SO_REUSEADDR, may. */
uint16_t wr_held_port(void);

#endif
