#define _GNU_SOURCE
#include "floor_loop.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 256, BUFFER_BYTES = 4096 };

typedef struct connection {
  int descriptor;
  // NULL if the connection uses no TLS.
  SSL *tls;
  size_t count;
  char buffer[BUFFER_BYTES];
} connection;

struct floor_loop {
  int poll;
  int count;
  SSL_CTX *tls;
  char *request;
  size_t request_bytes;
  connection *connections;
};

static int connect_to(int port) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

static SSL_CTX *make_tls(const char *authority) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (!context) return NULL;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_read_ahead(context, 1);
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
      && SSL_CTX_load_verify_locations(context, authority, NULL) == 1)
    return context;
  SSL_CTX_free(context);
  return NULL;
}

static bool begin_tls(SSL_CTX *context, connection *connection) {
  connection->tls = SSL_new(context);
  return connection->tls && SSL_set_fd(connection->tls, connection->descriptor) == 1
      && SSL_set1_host(connection->tls, "localhost") == 1
      && SSL_set_tlsext_host_name(connection->tls, "localhost") == 1 && SSL_connect(connection->tls) == 1;
}

static bool send_request(const floor_loop *loop, connection *connection) {
  ssize_t sent = connection->tls ? SSL_write(connection->tls, loop->request, (int)loop->request_bytes)
                                 : send(connection->descriptor, loop->request, loop->request_bytes, MSG_NOSIGNAL);
  return sent == (ssize_t)loop->request_bytes;
}

// Reads once. Returns the number of bytes, or -1 at the end of the stream and after an error. Over TLS, returns 0 if no
// data has arrived.
static ssize_t receive(connection *connection) {
  char *free = connection->buffer + connection->count;
  size_t room = BUFFER_BYTES - connection->count;
  if (!connection->tls) return recv(connection->descriptor, free, room, 0) ?: -1;
  int step = SSL_read(connection->tls, free, (int)room);
  // A TLS record may contain only session tickets and no data.
  if (step <= 0) return SSL_get_error(connection->tls, step) == SSL_ERROR_WANT_READ ? 0 : -1;
  return step;
}

static const char length_name[] = "content-length:";

// Returns the value of a Content-Length line, or -1 for any other line.
static long length_of(const char *line, size_t size) {
  size_t name = sizeof length_name - 1;
  if (size < name || strncasecmp(line, length_name, name) != 0) return -1;
  long length = 0;
  for (size_t index = name; index < size; index++) {
    if (line[index] >= '0' && line[index] <= '9') length = length * 10 + (line[index] - '0');
  }
  return length;
}

typedef enum progress { RESPONSE_IS_PARTIAL, RESPONSE_IS_WHOLE, RESPONSE_IS_BAD } progress;

static progress read_response(const connection *connection) {
  const char *start = connection->buffer;
  const char *end = start + connection->count;
  if (connection->count > 9 && memcmp(start, "HTTP/1.1 2", 10) != 0) return RESPONSE_IS_BAD;
  long length = -1;
  const char *line = start;
  const char *position = start;
  for (; position < end; position++) {
    if (*position != '\n') continue;
    size_t size = (size_t)(position - line);
    if (size > 0 && line[size - 1] == '\r') size--;
    if (size == 0) {
      if (length < 0) return RESPONSE_IS_BAD;
      return end - position - 1 >= length ? RESPONSE_IS_WHOLE : RESPONSE_IS_PARTIAL;
    }
    long found = length_of(line, size);
    if (found >= 0) length = found;
    line = position + 1;
  }
  return RESPONSE_IS_PARTIAL;
}

floor_loop *floor_loop_create(int port, int connections, const char *request, const char *authority) {
  floor_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->request = strdup(request);
  loop->request_bytes = strlen(request);
  loop->connections = calloc((size_t)connections, sizeof *loop->connections);
  loop->poll = epoll_create1(EPOLL_CLOEXEC);
  loop->tls = authority ? make_tls(authority) : NULL;
  if (!loop->request || !loop->connections || loop->poll < 0 || (authority && !loop->tls)) {
    floor_loop_destroy(loop);
    return NULL;
  }
  for (int index = 0; index < connections; index++) {
    connection *connection = &loop->connections[index];
    connection->descriptor = connect_to(port);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    if (connection->descriptor >= 0) loop->count++;
    if (connection->descriptor < 0 || (loop->tls && !begin_tls(loop->tls, connection))
        || fcntl(connection->descriptor, F_SETFL, O_NONBLOCK) != 0
        || epoll_ctl(loop->poll, EPOLL_CTL_ADD, connection->descriptor, &event) != 0) {
      floor_loop_destroy(loop);
      return NULL;
    }
  }
  return loop;
}

// Reads and parses what has arrived on one connection.
static progress take(connection *connection) {
  ssize_t step = receive(connection);
  if (step < 0) return RESPONSE_IS_BAD;
  connection->count += (size_t)step;
  progress progress = read_response(connection);
  if (progress == RESPONSE_IS_PARTIAL && connection->count == BUFFER_BYTES) return RESPONSE_IS_BAD;
  // Epoll does not report what OpenSSL has already read.
  if (progress == RESPONSE_IS_PARTIAL && connection->tls && step > 0 && SSL_has_pending(connection->tls))
    return take(connection);
  return progress;
}

long floor_loop_run(floor_loop *loop, long requests) {
  long to_start = requests;
  long running = 0;
  struct epoll_event events[BATCH];
  for (int index = 0; index < loop->count && to_start > 0; index++) {
    if (!send_request(loop, &loop->connections[index])) return requests;
    to_start--;
    running++;
  }
  while (running > 0) {
    int count = epoll_wait(loop->poll, events, BATCH, 60000);
    if (count <= 0) return running + to_start;
    for (int position = 0; position < count; position++) {
      connection *connection = &loop->connections[events[position].data.u32];
      progress progress = take(connection);
      if (progress == RESPONSE_IS_BAD) return running + to_start;
      if (progress == RESPONSE_IS_PARTIAL) continue;
      connection->count = 0;
      running--;
      if (to_start == 0) continue;
      if (!send_request(loop, connection)) return running + to_start;
      to_start--;
      running++;
    }
  }
  return 0;
}

void floor_loop_destroy(floor_loop *loop) {
  if (!loop) return;
  for (int index = 0; index < loop->count; index++) {
    SSL_free(loop->connections[index].tls);
    close(loop->connections[index].descriptor);
  }
  SSL_CTX_free(loop->tls);
  if (loop->poll > 0) close(loop->poll);
  free(loop->connections);
  free(loop->request);
  free(loop);
}
