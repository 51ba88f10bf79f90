/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CA_OPTION "--redis-tls-ca (REDIS_TLS_CACERT)"
#define CERT_OPTION "--redis-tls-cert (REDIS_TLS_CLIENT_CERT)"
#define KEY_OPTION "--redis-tls-key (REDIS_TLS_CLIENT_KEY)"

/* ---- stamps ---- */

static struct wr_redis_tls_stamp look(const char *path)
{
    struct stat status;

    if (path[0] == '\0' || stat(path, &status) != 0) {
        return (struct wr_redis_tls_stamp){0};
    }
    return (struct wr_redis_tls_stamp){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .changed_s = status.st_mtim.tv_sec,
        .changed_ns = status.st_mtim.tv_nsec,
    };
}

struct wr_redis_tls_stamps wr_redis_tls_files_look(const struct wr_redis_tls_files *files)
{
    return (struct wr_redis_tls_stamps){
        .ca = look(files->ca), .cert = look(files->cert), .key = look(files->key)};
}

static bool are_equal(const struct wr_redis_tls_stamp *a, const struct wr_redis_tls_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

bool wr_redis_tls_stamps_are_equal(const struct wr_redis_tls_stamps *a,
                                   const struct wr_redis_tls_stamps *b)
{
    return are_equal(&a->ca, &b->ca) && are_equal(&a->cert, &b->cert) &&
           are_equal(&a->key, &b->key);
}

/* ---- files ---- */

__attribute__((format(printf, 2, 3))) static enum wr_err
refuse(char message[WR_REDIS_TLS_MESSAGE_SIZE], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(message, WR_REDIS_TLS_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return WR_ERR_INVALID;
}

/* 0, or errno of an attempt to read its first byte. */
static int unreadable(const char *path)
{
    char byte;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return errno;
    }

    const int error = read(fd, &byte, 1) < 0 ? errno : 0;

    (void) close(fd);
    return error;
}

static enum wr_err check_readable(const char *option, const char *path,
                                  char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    const int error = unreadable(path);

    return error == 0 ? WR_OK
                      : refuse(message, "%s: %s: %s; give a file that this process may read",
                               option, path, strerror(error));
}

/* What was wrong at first, in OpenSSL's words. */
static const char *detail(void)
{
    const char *const text = ERR_reason_error_string(ERR_peek_error());

    return text != NULL ? text : "unknown";
}

static bool is_not_pem(void)
{
    const unsigned long code = ERR_peek_error();

    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

static enum wr_err refuse_certificates(const char *option, const char *path,
                                       char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    return refuse(message,
                  "%s: %s is not a file of certificates in PEM form, which begin with a line "
                  "-----BEGIN CERTIFICATE----- (%s)",
                  option, path, is_not_pem() ? "there is no such line" : detail());
}

static enum wr_err load_ca(SSL_CTX *context, const char *path,
                           char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    if (path[0] == '\0') {
        return SSL_CTX_set_default_verify_paths(context) == 1
                   ? WR_OK
                   : refuse(message,
                            "the system's certificate authorities cannot be read (%s); "
                            "give " CA_OPTION,
                            detail());
    }

    const enum wr_err err = check_readable(CA_OPTION, path, message);

    if (err != WR_OK) {
        return err;
    }
    return SSL_CTX_load_verify_file(context, path) == 1
               ? WR_OK
               : refuse_certificates(CA_OPTION, path, message);
}

static enum wr_err load_cert(SSL_CTX *context, const char *path,
                             char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    const enum wr_err err = check_readable(CERT_OPTION, path, message);

    if (err != WR_OK) {
        return err;
    }
    return SSL_CTX_use_certificate_chain_file(context, path) == 1
               ? WR_OK
               : refuse_certificates(CERT_OPTION, path, message);
}

/* Nobody is asked for a passphrase: by default OpenSSL would wait at the terminal. */
static int no_passphrase(char *buffer, int size, int is_writing, void *was_asked)
{
    (void) buffer;
    (void) size;
    (void) is_writing;
    *(bool *) was_asked = true;
    return -1;
}

static enum wr_err load_key(SSL_CTX *context, const struct wr_redis_tls_files *files,
                            char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    const enum wr_err err = check_readable(KEY_OPTION, files->key, message);
    bool was_asked = false;

    if (err != WR_OK) {
        return err;
    }
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &was_asked);

    const bool is_good = SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) == 1;

    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (is_good) {
        return WR_OK;
    }
    if (was_asked) {
        return refuse(message,
                      KEY_OPTION ": %s is protected by a passphrase, which nobody is there to "
                                 "give; give the key without one, for this process alone to read",
                      files->key);
    }
    if (ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509) {
        return refuse(message,
                      KEY_OPTION ": %s is not the key of the certificate in %s (%s); give the two "
                                 "that belong together",
                      files->key, files->cert, detail());
    }
    return refuse(message,
                  KEY_OPTION ": %s is not a private key in PEM form, which begins with a line "
                             "-----BEGIN PRIVATE KEY----- (%s)",
                  files->key, is_not_pem() ? "there is no such line" : detail());
}

static enum wr_err load_client(SSL_CTX *context, const struct wr_redis_tls_files *files,
                               char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    if (files->cert[0] == '\0' && files->key[0] == '\0') {
        return WR_OK;
    }
    if (files->cert[0] == '\0' || files->key[0] == '\0') {
        return refuse(message, "%s needs %s as well",
                      files->key[0] == '\0' ? CERT_OPTION : KEY_OPTION,
                      files->key[0] == '\0' ? KEY_OPTION : CERT_OPTION);
    }

    const enum wr_err err = load_cert(context, files->cert, message);

    return err != WR_OK ? err : load_key(context, files, message);
}

static bool set_rules(SSL_CTX *context)
{
    (void) SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    (void) SSL_CTX_set_mode(context,
                            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

enum wr_err wr_redis_tls_context_new(const struct wr_redis_tls_files *files,
                                     struct ssl_ctx_st **out_context,
                                     char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    ERR_clear_error();

    SSL_CTX *const context = SSL_CTX_new(TLS_client_method());
    enum wr_err err = WR_OK;

    if (context == NULL || !set_rules(context)) {
        (void) refuse(message, "TLS for Redis cannot be set up: %s", detail());
        err = WR_ERR_NO_MEMORY;
    } else if ((err = load_ca(context, files->ca, message)) == WR_OK) {
        err = load_client(context, files, message);
    }
    ERR_clear_error();
    if (err != WR_OK) {
        SSL_CTX_free(context);
        return err;
    }
    *out_context = context;
    return WR_OK;
}
