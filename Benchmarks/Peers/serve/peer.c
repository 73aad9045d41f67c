// The other parts of a measurement of "sluice serve":
//
//   peer origin PORT                       answers every request with 17 bytes of JSON
//   peer floor PORT UPSTREAM-PORT          the least that a proxy must do: forwards, with one more header each way
//   peer load PORT CONNECTIONS REQUESTS    sends requests, one after the other on each connection, and counts answers;
//                                          a status other than 200 ends it
//
// Each is one thread with epoll. They read well-behaved HTTP/1.1 only: heads in one piece with a Content-Length, small
// bodies.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 16384, EVENTS = 256 };

struct connection {
  int descriptor;
  size_t count;
  struct connection *other; // of a proxy: the other side of the request under way
  struct connection *next;  // in the list of idle upstream connections
  int is_upstream;
  char buffer[BUFFER];
};

static int poller;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct sockaddr_in address(const char *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static struct connection *add(int descriptor, int is_upstream) {
  int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) fail("calloc");
  connection->descriptor = descriptor;
  connection->is_upstream = is_upstream;
  struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLRDHUP, .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  return connection;
}

static int listen_at(const char *port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in place = address(port);
  if (bind(listener, (struct sockaddr *)&place, sizeof place) != 0 || listen(listener, 1024) != 0) fail("listen");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) != 0) fail("epoll_ctl");
  return listener;
}

static struct connection *connect_to(const char *port) {
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in place = address(port);
  if (connect(descriptor, (struct sockaddr *)&place, sizeof place) != 0) fail("connect");
  int on = 1;
  if (ioctl(descriptor, FIONBIO, &on) != 0) fail("ioctl");
  return add(descriptor, 1);
}

// Returns the length of the first message, or 0 if it has not arrived completely. `head` gets the length of its head.
static size_t message(const struct connection *connection, size_t *head) {
  const char *end = memmem(connection->buffer, connection->count, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  *head = (size_t)(end - connection->buffer) + 4;
  // The end of Content-Length and of content-length.
  const char *length = memmem(connection->buffer, *head, "ength: ", 7);
  size_t whole = *head + (length == NULL ? 0 : (size_t)atoi(length + 7));
  return whole <= connection->count ? whole : 0;
}

static void take(struct connection *connection, size_t count) {
  connection->count -= count;
  memmove(connection->buffer, connection->buffer + count, connection->count);
}

static void write_all(int descriptor, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return;
    if (sent > 0) bytes += sent, count -= (size_t)sent;
  }
}

// Reads what has arrived. Returns 0 at the end of the connection.
static int receive(struct connection *connection) {
  ssize_t count = recv(connection->descriptor, connection->buffer + connection->count, BUFFER - connection->count, 0);
  if (count == 0 || (count < 0 && errno != EAGAIN)) return 0;
  if (count > 0) connection->count += (size_t)count;
  return 1;
}

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n"
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n{\"hello\":\"world\"}";
static const char request[] =
    "GET /items/17?x=1 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load/1\r\nAccept: application/json\r\n\r\n";
static const char added[] = "X-Proxied: 1\r\n\r\n";

static const char *upstream_port;
static struct connection *idle;
static long left, done;

// Forwards a message with one more field at the end of its head.
static void forward(struct connection *from, struct connection *to, size_t head, size_t whole) {
  char output[BUFFER + sizeof added];
  memcpy(output, from->buffer, head - 2);
  memcpy(output + head - 2, added, sizeof added - 1);
  memcpy(output + head - 3 + sizeof added, from->buffer + head, whole - head);
  write_all(to->descriptor, output, whole - 3 + sizeof added);
  take(from, whole);
}

static void handle(struct connection *connection, const char *mode) {
  size_t head, whole;
  while ((whole = message(connection, &head)) > 0) {
    if (mode[0] == 'o') {
      take(connection, whole);
      write_all(connection->descriptor, answer, sizeof answer - 1);
    } else if (mode[0] == 'l') {
      if (memcmp(connection->buffer, "HTTP/1.1 200 ", 13) != 0) {
        fprintf(stderr, "an answer without status 200: %.*s\n", (int)head, connection->buffer);
        exit(1);
      }
      take(connection, whole);
      done++;
      if (left > 0) left--, write_all(connection->descriptor, request, sizeof request - 1);
    } else if (connection->is_upstream) {
      struct connection *client = connection->other;
      connection->next = idle;
      idle = connection;
      connection->other = NULL;
      if (client != NULL) forward(connection, client, head, whole);
    } else {
      struct connection *upstream = idle != NULL ? idle : connect_to(upstream_port);
      if (upstream == idle) idle = upstream->next;
      upstream->other = connection;
      forward(connection, upstream, head, whole);
    }
  }
}

int main(int count, char **arguments) {
  if (count < 3) return fprintf(stderr, "usage: see peer.c\n"), 2;
  const char *mode = arguments[1];
  long total = 0;
  poller = epoll_create1(0);
  int listener = -1;
  if (mode[0] == 'l') {
    total = atol(arguments[4]);
    left = total;
    for (long index = 0; index < atol(arguments[3]); index++) {
      struct connection *connection = connect_to(arguments[2]);
      if (left > 0) left--, write_all(connection->descriptor, request, sizeof request - 1);
    }
  } else {
    listener = listen_at(arguments[2]);
    if (count > 3) upstream_port = arguments[3];
  }
  struct epoll_event events[EVENTS];
  while (mode[0] != 'l' || done < total) {
    int ready = epoll_wait(poller, events, EVENTS, 10000);
    if (ready == 0 && mode[0] == 'l') return fprintf(stderr, "no answer within 10 s\n"), 1;
    for (int index = 0; index < ready; index++) {
      struct connection *connection = events[index].data.ptr;
      if (connection == NULL) {
        int descriptor;
        while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) add(descriptor, 0);
        continue;
      }
      if (receive(connection)) {
        handle(connection, mode);
      } else {
        if (mode[0] == 'l') return fprintf(stderr, "a connection ended after %ld answers\n", done), 1;
        // Freed at the end of the process only: another event of this round can refer to it.
        close(connection->descriptor);
      }
    }
  }
  return 0;
}
