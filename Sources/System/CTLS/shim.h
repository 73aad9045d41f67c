// libssl: TLS connections, and the functions that describe them. Also wraps the macros that Swift cannot see, and
// defines the BIO through which a connection reads and writes its socket.
#ifndef SLUICE_CTLS_SHIM_H
#define SLUICE_CTLS_SHIM_H
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

static const long sluice_tls_modes =
    SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS;
static const uint64_t sluice_tls_options = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;

static inline void sluice_tls_configure(SSL_CTX *context) {
  SSL_CTX_set_options(context, sluice_tls_options);
  SSL_CTX_set_mode(context, sluice_tls_modes);
  SSL_CTX_set_read_ahead(context, 1);
  // The owner of the callback keeps the sessions. OpenSSL's own cache, which is shared by all servers, is not used.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

/// These functions exist for Swift, which does not see the types of the macros.
/// The version of the OpenSSL that is loaded, such as `3.0.19`; lives as long as the process.
static inline const char *sluice_tls_library_version(void) { return OpenSSL_version(OPENSSL_VERSION_STRING); }

static const int sluice_tls_version_1_2 = TLS1_2_VERSION;
static const int sluice_tls_version_1_3 = TLS1_3_VERSION;

/// Sets the lowest and the highest version; returns 1 if OpenSSL supports them.
static inline int sluice_tls_set_versions(SSL_CTX *context, int least, int most) {
  return SSL_CTX_set_min_proto_version(context, least) == 1 && SSL_CTX_set_max_proto_version(context, most) == 1;
}

static inline int sluice_tls_set_server_name(SSL *tls, const char *name) {
  return (int)SSL_set_tlsext_host_name(tls, name);
}

static inline void sluice_tls_set_owner(SSL *tls, void *owner) { SSL_set_app_data(tls, owner); }
static inline void *sluice_tls_owner(const SSL *tls) { return SSL_get_app_data(tls); }

/// The connection whose certificate is being verified.
static inline SSL *sluice_tls_connection(X509_STORE_CTX *store) {
  return (SSL *)X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
}

/// Suspends the handshake. Call it in the verify callback. The callback must return the result of this function.
static inline int sluice_tls_retry_verify(SSL *tls) { return (int)SSL_set_retry_verify(tls); }

static inline int sluice_tls_count(const STACK_OF(X509) *chain) { return chain == NULL ? 0 : sk_X509_num(chain); }
static inline X509 *sluice_tls_certificate(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }

static inline int sluice_tls_name_count(const STACK_OF(X509_NAME) *names) {
  return names == NULL ? 0 : sk_X509_NAME_num(names);
}
static inline X509_NAME *sluice_tls_name(const STACK_OF(X509_NAME) *names, int index) {
  return sk_X509_NAME_value(names, index);
}

/// What protects the session tickets of a server: a name, by which the server finds the key, and two keys (RFC 5077 §4).
struct sluice_tls_ticket_key {
  unsigned char name[16];
  unsigned char cipher[32];
  unsigned char mac[32];
};

/// Prepares the encryption of a ticket, or the decryption if `encrypts` is 0. Returns 1 for success.
static inline int sluice_tls_apply_ticket_key(
    const struct sluice_tls_ticket_key *key, const unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
    int encrypts) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key->mac, sizeof key->mac),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, parameters) == 1
      && EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv, encrypts) == 1;
}

static const uint64_t sluice_tls_no_tickets = SSL_OP_NO_TICKET;

typedef int (*sluice_tls_name_callback)(SSL *tls, int *alert, void *context);

/// Lets the callback choose the certificate by the name that the client asks for.
static inline void sluice_tls_choose_by_name(SSL_CTX *context, sluice_tls_name_callback choose) {
  SSL_CTX_set_tlsext_servername_callback(context, choose);
}

/// Makes a context for a server: tickets instead of stored sessions, and only ciphers that HTTP/2 allows
/// (RFC 9113 §9.2.2).
static inline int sluice_tls_configure_server(SSL_CTX *context, long ticket_seconds) {
  sluice_tls_configure(context);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(context, ticket_seconds);
  return SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

static inline int sluice_tls_is_unexpected_end(unsigned long error) {
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
  return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
#else
  return 0;
#endif
}

/// Whether a key does not belong to a certificate.
static inline int sluice_tls_is_key_mismatch(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_X509 && ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH
      || ERR_GET_LIB(error) == ERR_LIB_X509 && ERR_GET_REASON(error) == X509_R_KEY_TYPE_MISMATCH;
}

/// What is under a connection: a socket, or another connection over TLS, as for a server behind an HTTPS proxy.
struct sluice_tls_socket {
  int descriptor;
  /// The connection underneath, and its socket; NULL if there is only the socket.
  SSL *below;
  struct sluice_tls_socket *below_socket;
  /// Whether the last read filled less than its buffer. If so, the socket has no more bytes.
  int is_drained;
  /// The error number of the last read or write that failed; 0 if none has failed.
  int error;
  /// How many bytes the current call of OpenSSL may still read; at 0, a read reports that no bytes are left. Set before
  /// each call.
  long budget;
  /// Bytes that were read so far.
  long received;
};

/// Notes why a call on the connection underneath has failed. Returns the result of the BIO's function: 0 for the end,
/// otherwise -1.
static inline int sluice_tls_note_below(BIO *bio, struct sluice_tls_socket *socket, int result) {
  switch (SSL_get_error(socket->below, result)) {
  case SSL_ERROR_WANT_READ:
    BIO_set_retry_read(bio);
    return -1;
  case SSL_ERROR_WANT_WRITE:
    BIO_set_retry_write(bio);
    return -1;
  case SSL_ERROR_ZERO_RETURN:
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
  default:
    socket->error = socket->below_socket->error;
    // The end of the outer connection is the end of the inner one, which itself tells whether data is missing.
    if (socket->error == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    ERR_clear_error();
    return socket->error == 0 ? 0 : -1;
  }
}

static inline int sluice_tls_bio_write(BIO *bio, const char *bytes, int count) {
  struct sluice_tls_socket *socket = (struct sluice_tls_socket *)BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (socket->below != NULL) {
    int written = SSL_write(socket->below, bytes, count);
    return written > 0 ? written : sluice_tls_note_below(bio, socket, written);
  }
  ssize_t written;
  // Unlike write(2), this never raises SIGPIPE.
  do written = send(socket->descriptor, bytes, (size_t)count, MSG_NOSIGNAL);
  while (written < 0 && errno == EINTR);
  if (written >= 0) return (int)written;
  if (errno == EAGAIN) BIO_set_retry_write(bio);
  else socket->error = errno;
  return -1;
}

static inline int sluice_tls_bio_read(BIO *bio, char *bytes, int capacity) {
  struct sluice_tls_socket *socket = (struct sluice_tls_socket *)BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (socket->budget <= 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  if (socket->below != NULL) {
    socket->below_socket->budget = socket->budget;
    socket->below_socket->is_drained = 0;
    int count = SSL_read(socket->below, bytes, capacity);
    socket->is_drained = socket->below_socket->is_drained && !SSL_has_pending(socket->below);
    if (count > 0) {
      socket->budget -= count;
      socket->received += count;
      return count;
    }
    // TLS's own messages of the connection underneath count too.
    socket->received += socket->budget - socket->below_socket->budget;
    if (socket->below_socket->budget <= 0) socket->budget = 0;
    return sluice_tls_note_below(bio, socket, count);
  }
  ssize_t count;
  do count = recv(socket->descriptor, bytes, (size_t)capacity, 0);
  while (count < 0 && errno == EINTR);
  socket->is_drained = count < capacity;
  if (count > 0) {
    socket->budget -= count;
    socket->received += count;
    return (int)count;
  }
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  else if (errno == EAGAIN) BIO_set_retry_read(bio);
  else socket->error = errno;
  return count == 0 ? 0 : -1;
}

static inline long sluice_tls_bio_control(BIO *bio, int command, long number, void *pointer) {
  (void)number;
  (void)pointer;
  switch (command) {
  case BIO_CTRL_FLUSH: return 1;
  case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  default: return 0;
  }
}

/// Creates the type of these BIOs, once; NULL if memory ran out.
static inline BIO_METHOD *sluice_tls_make_bio_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice");
  if (method == NULL) return NULL;
  BIO_meth_set_write(method, sluice_tls_bio_write);
  BIO_meth_set_read(method, sluice_tls_bio_read);
  BIO_meth_set_ctrl(method, sluice_tls_bio_control);
  return method;
}

/// Lets a connection use the socket, which must outlive the connection. Returns 0 if memory ran out.
static inline int sluice_tls_attach(SSL *tls, BIO_METHOD *method, struct sluice_tls_socket *socket) {
  BIO *bio = BIO_new(method);
  if (bio == NULL) return 0;
  BIO_set_data(bio, socket);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls, bio, bio);
  return 1;
}
#endif
