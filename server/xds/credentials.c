/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/credentials.h"

#include <stdlib.h>
#include <string.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include "base/hash.h"
#include "rules/rule_files.h"

#define FILE_MAX (1 << 20)

/* The PEM texts of a channel, NUL-terminated; owned; NULL: none. */
struct texts {
    char *ca, *cert, *key;
};

/* The content of a file as a text; false, noted, when it cannot be had. */
static bool read_text(const char *path, struct wr_diag *diag, char **out_text)
{
    struct wr_file_text file;

    if (*path == '\0') {
        return true;
    }
    if (!wr_file_text_read(path, FILE_MAX, diag, &file)) {
        return false;
    }
    *out_text = malloc(file.len + 1);
    if (*out_text == NULL) {
        wr_diag_add(diag, WR_SEVERITY_ERROR, (struct wr_place){.file = wr_str_of(path)},
                    (struct wr_str){0}, NULL, "out of memory");
    } else {
        memcpy(*out_text, file.bytes, file.len);
        (*out_text)[file.len] = '\0';
    }
    wr_secret_wipe(file.bytes, file.len);
    wr_file_text_fini(&file);
    return *out_text != NULL;
}

static void free_texts(struct texts *texts)
{
    if (texts->key != NULL) {
        wr_secret_wipe(texts->key, strlen(texts->key));
    }
    free(texts->ca);
    free(texts->cert);
    free(texts->key);
}

static grpc_channel_credentials *new_tls(const struct texts *texts)
{
    grpc_ssl_pem_key_cert_pair pair = {.private_key = texts->key, .cert_chain = texts->cert};

    return grpc_ssl_credentials_create(texts->ca, texts->cert != NULL ? &pair : NULL, NULL, NULL);
}

grpc_channel_credentials *wr_xds_credentials_new(const struct wr_xds_tls *tls, struct wr_diag *diag)
{
    grpc_channel_credentials *credentials = NULL;
    struct texts texts = {0};

    if (!tls->is_on) {
        return grpc_insecure_credentials_create();
    }
    if (read_text(tls->ca, diag, &texts.ca) && read_text(tls->cert, diag, &texts.cert) &&
        read_text(tls->key, diag, &texts.key)) {
        credentials = new_tls(&texts);
    }
    free_texts(&texts);
    return credentials;
}
