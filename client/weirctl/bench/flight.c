/* SPDX-License-Identifier: Apache-2.0 */
#include "flight.h"

#include <stdlib.h>
#include <string.h>

bool weirctl_flight_init(struct weirctl_flight *flight, size_t connections, size_t of_each,
                         const struct weirctl_body *body)
{
    const size_t count = connections * of_each;

    *flight = (struct weirctl_flight){.slots = calloc(count, sizeof *flight->slots),
                                      .bodies = malloc(count * body->len),
                                      .body_len = body->len};
    if (flight->slots == NULL || flight->bodies == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct weirctl_slot *slot = &flight->slots[i];

        slot->line = i / of_each;
        slot->turn.body = memcpy(weirctl_flight_body(flight, slot), body->bytes, body->len);
        slot->turn.body_len = body->len;
    }
    /* The last that is put is the first that is taken. */
    for (size_t i = count; i > 0; i--) {
        const size_t number = (i - 1) % connections * of_each + (i - 1) / connections;

        weirctl_flight_put(flight, &flight->slots[number]);
    }
    return true;
}

void weirctl_flight_fini(struct weirctl_flight *flight)
{
    free(flight->bodies);
    free(flight->slots);
}

struct weirctl_slot *weirctl_flight_take(struct weirctl_flight *flight)
{
    struct weirctl_slot *slot = flight->free;

    if (slot != NULL) {
        flight->free = slot->next;
    }
    return slot;
}

void weirctl_flight_put(struct weirctl_flight *flight, struct weirctl_slot *slot)
{
    slot->next = flight->free;
    flight->free = slot;
}

void weirctl_flight_add(struct weirctl_flight *flight, struct weirctl_slot *slot)
{
    slot->prev = flight->newest;
    slot->next = NULL;
    if (flight->newest != NULL) {
        flight->newest->next = slot;
    } else {
        flight->oldest = slot;
    }
    flight->newest = slot;
}

void weirctl_flight_remove(struct weirctl_flight *flight, struct weirctl_slot *slot)
{
    if (slot->prev != NULL) {
        slot->prev->next = slot->next;
    } else {
        flight->oldest = slot->next;
    }
    if (slot->next != NULL) {
        slot->next->prev = slot->prev;
    } else {
        flight->newest = slot->prev;
    }
}

uint8_t *weirctl_flight_body(const struct weirctl_flight *flight, const struct weirctl_slot *slot)
{
    return &flight->bodies[(size_t) (slot - flight->slots) * flight->body_len];
}
