/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/body.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "client/codec.h"
#include "tests/support/failing_malloc.h"

static void build(struct weir_request *request, const char *first, const char *second)
{
    weir_request_init(request, weir_str("edge"));
    weir_request_descriptor(request);
    weir_request_entry(request, weir_str("k"), weir_str("v"));
    weir_request_entry(request, weir_str("l"), weir_str(first));
    weir_request_descriptor(request);
    weir_request_entry(request, weir_str("m"), weir_str(second));
}

/* Does a body hold the request with these values, behind gRPC's prefix. */
static void same(const uint8_t *bytes, size_t len, const char *first, const char *second)
{
    struct weir_request request;

    build(&request, first, second);

    const size_t want = weir_codec_request_size(&request);
    uint8_t *wanted = malloc(want);

    cr_assert(weir_codec_put_request(&request, wanted, want));
    cr_assert_eq(len, want + 5);
    cr_assert_eq(memcmp(&bytes[5], wanted, want), 0, "%s %s", first, second);
    cr_assert(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 0);
    cr_assert_eq(((size_t) bytes[3] << 8) + bytes[4], want);
    free(wanted);
}

Test(body, of_one_key_is_the_request)
{
    struct weir_request request;
    struct weirctl_body body;

    build(&request, "x", "0");
    cr_assert_eq(weirctl_body_init(&body, &request, 1), WEIR_OK);
    same(body.bytes, body.len, "x", "0");
    weirctl_body_set_key(&body, body.bytes, 3);
    same(body.bytes, body.len, "x", "0");
    weirctl_body_fini(&body);
}

Test(body, of_many_keys_numbers_the_last_value_of_each_descriptor)
{
    struct weir_request request;
    struct weirctl_body body;

    build(&request, "x", "");
    cr_assert_eq(weirctl_body_init(&body, &request, 1000), WEIR_OK);
    same(body.bytes, body.len, "x-000", "-000");
    weirctl_body_set_key(&body, body.bytes, 999);
    same(body.bytes, body.len, "x-999", "-999");
    weirctl_body_set_key(&body, body.bytes, 42);
    same(body.bytes, body.len, "x-042", "-042");
    weirctl_body_fini(&body);
    cr_assert_eq(weirctl_body_init(&body, &request, 1001), WEIR_OK);
    same(body.bytes, body.len, "x-0000", "-0000");
    weirctl_body_fini(&body);
}

Test(body, reports_a_request_that_was_not_built_right)
{
    struct weirctl_body body = {.len = 7};
    struct weir_request request;

    weir_request_init(&request, weir_str("edge"));
    weir_request_entry(&request, weir_str("k"), weir_str("v"));
    cr_assert_eq(weirctl_body_init(&body, &request, 1), WEIR_ERR_INVALID);
    cr_assert_eq(body.len, 7);
}

Test(body, is_not_made_without_memory)
{
    struct weir_request request;
    struct weirctl_body body = {.len = 7};
    size_t n = 0;

    build(&request, "x", "y");
    for (;; n++) {
        failing_malloc_start(n);

        const enum weir_err err = weirctl_body_init(&body, &request, 10);

        failing_malloc_stop();
        if (err == WEIR_OK) {
            break;
        }
        cr_assert_eq(err, WEIR_ERR_MEMORY);
        cr_assert_eq(body.len, 7);
    }
    cr_assert_geq(n, 4);
    weirctl_body_fini(&body);
}
