/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/flight.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

static uint8_t bytes[] = {1, 2, 3};
static const struct weirctl_body body = {.bytes = bytes, .len = sizeof bytes};

Test(flight, gives_to_each_connection_in_turn_until_there_is_none)
{
    struct weirctl_flight flight;

    cr_assert(weirctl_flight_init(&flight, 3, 2, &body));
    for (size_t i = 0; i < 6; i++) {
        const struct weirctl_slot *slot = weirctl_flight_take(&flight);

        cr_assert_neq(slot, NULL);
        cr_assert_eq(slot->line, i % 3, "take %zu: connection %zu", i, slot->line);
        cr_assert_eq((size_t) (slot - flight.slots) / 2, slot->line);
    }
    cr_assert_eq(weirctl_flight_take(&flight), NULL);
    weirctl_flight_put(&flight, &flight.slots[4]);
    cr_assert_eq(weirctl_flight_take(&flight), &flight.slots[4]);
    weirctl_flight_fini(&flight);
}

Test(flight, has_a_body_for_each)
{
    struct weirctl_flight flight;

    cr_assert(weirctl_flight_init(&flight, 2, 1, &body));
    weirctl_flight_body(&flight, &flight.slots[0])[0] = 9;
    cr_assert_eq(flight.slots[0].turn.body[0], 9);
    cr_assert_eq(memcmp(flight.slots[1].turn.body, bytes, sizeof bytes), 0);
    cr_assert_eq(flight.slots[1].turn.body_len, sizeof bytes);
    weirctl_flight_fini(&flight);
}

/* Which of four that began in this order end, one after the other, and which one is the oldest and
 * the newest then; -1: none. */
static const struct {
    int ends[4];
    int oldest[4];
    int newest[4];
} orders[] = {
    {{0, 1, 2, 3}, {1, 2, 3, -1}, {3, 3, 3, -1}},
    {{3, 2, 1, 0}, {0, 0, 0, -1}, {2, 1, 0, -1}},
    {{1, 2, 0, 3}, {0, 0, 3, -1}, {3, 3, 3, -1}},
    {{2, 3, 0, 1}, {0, 0, 1, -1}, {3, 1, 1, -1}},
};

static const struct weirctl_slot *slot_at(const struct weirctl_flight *flight, int number)
{
    return number >= 0 ? &flight->slots[number] : NULL;
}

Test(flight, knows_the_oldest_and_the_newest_whatever_ends_first)
{
    for (size_t row = 0; row < sizeof orders / sizeof orders[0]; row++) {
        struct weirctl_flight flight;

        cr_assert(weirctl_flight_init(&flight, 1, 4, &body));
        for (size_t i = 0; i < 4; i++) {
            weirctl_flight_add(&flight, weirctl_flight_take(&flight));
        }
        for (size_t i = 0; i < 4; i++) {
            weirctl_flight_remove(&flight, &flight.slots[orders[row].ends[i]]);
            cr_assert_eq(flight.oldest, slot_at(&flight, orders[row].oldest[i]), "row %zu, %zu",
                         row, i);
            cr_assert_eq(flight.newest, slot_at(&flight, orders[row].newest[i]), "row %zu, %zu",
                         row, i);
        }
        weirctl_flight_fini(&flight);
    }
}

Test(flight, without_memory_can_be_undone)
{
    for (size_t n = 0; n < 2; n++) {
        struct weirctl_flight flight;

        failing_malloc_start(n);

        const bool ok = weirctl_flight_init(&flight, 1, 1, &body);

        failing_malloc_stop();
        cr_assert_not(ok, "allocation %zu", n);
        weirctl_flight_fini(&flight);
    }
}
