/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks that a load may have in flight, as many slots for each connection: each is free, or in
 * flight, or its owner's between the two. What is in flight is in the order in which it began.
 *
 * Threads: owner thread only.
 */
#ifndef WEIRCTL_BENCH_FLIGHT_H
#define WEIRCTL_BENCH_FLIGHT_H

#include "body.h"
#include "peer.h"

struct weirctl_slot {
    struct weirctl_turn turn; /* the first member: a turn is its slot */
    size_t line;              /* the number of its connection */
    struct weirctl_slot *prev;
    struct weirctl_slot *next; /* its owner's, while it is in neither list */
};

/* All zero has nothing to undo. */
struct weirctl_flight {
    struct weirctl_slot *slots; /* owned: those of the first connection, then of the second … */
    uint8_t *bodies;            /* owned: a copy for each slot */
    size_t body_len;
    struct weirctl_slot *free;
    struct weirctl_slot *oldest; /* in flight */
    struct weirctl_slot *newest;
};

/* All are free. False when out of memory; it can be undone all the same. */
WEIR_MUST_USE bool weirctl_flight_init(struct weirctl_flight *flight, size_t connections,
                                       size_t of_each, const struct weirctl_body *body);

void weirctl_flight_fini(struct weirctl_flight *flight);

/* One that is free; the first ones are of one connection each, in turn. NULL when there is none. */
struct weirctl_slot *weirctl_flight_take(struct weirctl_flight *flight);

/* Makes it free again. */
void weirctl_flight_put(struct weirctl_flight *flight, struct weirctl_slot *slot);

/* Puts one that was taken in flight, and back. */
void weirctl_flight_add(struct weirctl_flight *flight, struct weirctl_slot *slot);
void weirctl_flight_remove(struct weirctl_flight *flight, struct weirctl_slot *slot);

/* The slot's own copy of the body, which its turn sends. */
uint8_t *weirctl_flight_body(const struct weirctl_flight *flight, const struct weirctl_slot *slot);

#endif
