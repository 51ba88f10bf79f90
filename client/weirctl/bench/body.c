/* SPDX-License-Identifier: Apache-2.0 */
#include "body.h"

#include "../../codec.h"

#include <stdlib.h>

#define PREFIX_BYTES 5 /* a flag for compression, and the length in four bytes */

static void put_number(uint8_t *at, unsigned int digits, uint32_t number)
{
    for (unsigned int i = digits; i > 0; i--) {
        at[i - 1] = (uint8_t) ('0' + number % 10);
        number /= 10;
    }
}

static unsigned int digits_of(uint32_t number)
{
    unsigned int digits = 1;

    while (number >= 10) {
        number /= 10;
        digits++;
    }
    return digits;
}

static struct weir_str *last_value(struct weir_request *request, size_t i)
{
    struct weir_descriptor *descriptor = &request->descriptors[i];

    return &descriptor->entries[descriptor->entry_count - 1].value;
}

/* The last value of descriptor i with a number of nothing but `digit`, to be freed. */
static char *numbered(struct weir_str value, unsigned int digits, char digit)
{
    char *text = malloc(value.len + 1 + digits);

    if (text != NULL) {
        memcpy(text, value.ptr, value.len);
        text[value.len] = '-';
        memset(&text[value.len + 1], digit, digits);
    }
    return text;
}

static uint8_t *encode(const struct weir_request *request, size_t *out_len)
{
    const size_t len = weir_codec_request_size(request);
    uint8_t *bytes = malloc(PREFIX_BYTES + len);

    if (bytes == NULL || !weir_codec_put_request(request, &bytes[PREFIX_BYTES], len)) {
        free(bytes);
        return NULL;
    }
    bytes[0] = 0;
    for (unsigned int i = 0; i < 4; i++) {
        bytes[1 + i] = (uint8_t) (len >> (24 - 8 * i));
    }
    *out_len = PREFIX_BYTES + len;
    return bytes;
}

/* The request's bytes with numbers of nothing but `digit`. */
static uint8_t *encode_numbered(const struct weir_request *request, unsigned int digits, char digit,
                                size_t *out_len)
{
    struct weir_request copy = *request;
    char *texts[WEIR_DESCRIPTORS_MAX] = {NULL};
    uint8_t *bytes = NULL;
    bool ok = true;

    for (size_t i = 0; i < copy.descriptor_count && ok; i++) {
        struct weir_str *value = last_value(&copy, i);

        texts[i] = numbered(*value, digits, digit);
        *value = (struct weir_str){texts[i], value->len + 1 + digits};
        ok = texts[i] != NULL;
    }
    if (ok) {
        bytes = encode(&copy, out_len);
    }
    for (size_t i = 0; i < copy.descriptor_count; i++) {
        free(texts[i]);
    }
    return bytes;
}

/* Numbers stand where two encodings differ that have nothing but their digits unlike. */
static void find_places(struct weirctl_body *body, const uint8_t *other)
{
    size_t i = 0;

    body->place_count = 0;
    while (i < body->len && body->place_count < WEIR_DESCRIPTORS_MAX) {
        if (body->bytes[i] == other[i]) {
            i++;
        } else {
            body->places[body->place_count++] = i;
            i += body->digits;
        }
    }
}

static enum weir_err init_numbered(struct weirctl_body *body, const struct weir_request *request,
                                   uint32_t keys)
{
    size_t other_len;
    uint8_t *other;

    body->digits = digits_of(keys - 1);
    body->bytes = encode_numbered(request, body->digits, '0', &body->len);
    if (body->bytes == NULL) {
        return WEIR_ERR_MEMORY;
    }
    other = encode_numbered(request, body->digits, '9', &other_len);
    if (other == NULL) {
        free(body->bytes);
        return WEIR_ERR_MEMORY;
    }
    find_places(body, other);
    free(other);
    return WEIR_OK;
}

enum weir_err weirctl_body_init(struct weirctl_body *out, const struct weir_request *request,
                                uint32_t keys)
{
    struct weirctl_body body = {.bytes = NULL};
    enum weir_err err = request->err;

    if (err == WEIR_OK && keys > 1) {
        err = init_numbered(&body, request, keys);
    } else if (err == WEIR_OK) {
        body.bytes = encode(request, &body.len);
        err = body.bytes != NULL ? WEIR_OK : WEIR_ERR_MEMORY;
    }
    if (err == WEIR_OK) {
        *out = body;
    }
    return err;
}

void weirctl_body_fini(struct weirctl_body *body)
{
    free(body->bytes);
}

void weirctl_body_set_key(const struct weirctl_body *body, uint8_t *copy, uint32_t key)
{
    for (size_t i = 0; i < body->place_count; i++) {
        put_number(&copy[body->places[i]], body->digits, key);
    }
}
