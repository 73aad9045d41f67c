#define _GNU_SOURCE
#include "floor_loop.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 256, BUFFER_BYTES = 65536 };

struct floor_loop {
  int poll;
  int connections;
  int *sockets;
  char *request;
  size_t request_bytes;
  // Every response has the bytes of the first one.
  size_t response_bytes;
  size_t *received;
  char buffer[BUFFER_BYTES];
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

static int send_request(const floor_loop *loop, int descriptor) {
  ssize_t sent = send(descriptor, loop->request, loop->request_bytes, MSG_NOSIGNAL);
  return sent == (ssize_t)loop->request_bytes ? 0 : -1;
}

// Learns the length of a response from one on a connection of its own, which the server then closes.
static int measure_response(floor_loop *loop, int port) {
  int descriptor = connect_to(port);
  if (descriptor < 0 || send_request(loop, descriptor) != 0) return -1;
  size_t count = 0;
  size_t length = 0;
  char *body = NULL;
  while (!body || count < (size_t)(body - loop->buffer) + length) {
    ssize_t step = recv(descriptor, loop->buffer + count, BUFFER_BYTES - 1 - count, 0);
    if (step <= 0) break;
    count += (size_t)step;
    loop->buffer[count] = 0;
    char *end = strstr(loop->buffer, "\r\n\r\n");
    char *field = strstr(loop->buffer, "Content-Length: ");
    if (!end || !field) continue;
    body = end + 4;
    length = strtoul(field + 16, NULL, 10);
  }
  close(descriptor);
  loop->response_bytes = count;
  return body ? 0 : -1;
}

floor_loop *floor_loop_create(int port, int connections, const char *request) {
  floor_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->connections = connections;
  loop->request = strdup(request);
  loop->request_bytes = strlen(request);
  loop->sockets = calloc((size_t)connections, sizeof *loop->sockets);
  loop->received = calloc((size_t)connections, sizeof *loop->received);
  loop->poll = epoll_create1(EPOLL_CLOEXEC);
  if (!loop->request || !loop->sockets || !loop->received || loop->poll < 0 || measure_response(loop, port) != 0) {
    floor_loop_destroy(loop);
    return NULL;
  }
  for (int index = 0; index < connections; index++) {
    int descriptor = connect_to(port);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    loop->sockets[index] = descriptor;
    if (descriptor < 0 || fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0
        || epoll_ctl(loop->poll, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      floor_loop_destroy(loop);
      return NULL;
    }
  }
  return loop;
}

long floor_loop_run(floor_loop *loop, long requests) {
  long to_start = requests;
  long running = 0;
  struct epoll_event events[BATCH];
  for (int index = 0; index < loop->connections && to_start > 0; index++) {
    if (send_request(loop, loop->sockets[index]) != 0) return requests;
    to_start--;
    running++;
  }
  while (running > 0) {
    int count = epoll_wait(loop->poll, events, BATCH, 60000);
    if (count <= 0) return running + to_start;
    for (int position = 0; position < count; position++) {
      uint32_t index = events[position].data.u32;
      ssize_t step = recv(loop->sockets[index], loop->buffer, BUFFER_BYTES, 0);
      if (step <= 0) return running + to_start;
      loop->received[index] += (size_t)step;
      if (loop->received[index] < loop->response_bytes) continue;
      loop->received[index] = 0;
      running--;
      if (to_start == 0) continue;
      if (send_request(loop, loop->sockets[index]) != 0) return running + to_start + 1;
      to_start--;
      running++;
    }
  }
  return 0;
}

void floor_loop_destroy(floor_loop *loop) {
  if (!loop) return;
  for (int index = 0; loop->sockets && index < loop->connections; index++) {
    if (loop->sockets[index] > 0) close(loop->sockets[index]);
  }
  if (loop->poll > 0) close(loop->poll);
  free(loop->sockets);
  free(loop->received);
  free(loop->request);
  free(loop);
}
