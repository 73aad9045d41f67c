#define _GNU_SOURCE
#include "silent_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 256 };

struct silent_server {
  int listener;
  int poll;
  int port;
  int limit;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  // The connections that have been accepted. Each is in the epoll set `poll` until its first bytes arrive.
  int *connections;
  int accepted;
  // Requests that have not been answered.
  int asked;
};

static void take_connection(silent_server *server) {
  int descriptor = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0 || server->accepted == server->limit) return;
  pthread_mutex_lock(&server->lock);
  server->connections[server->accepted++] = descriptor;
  pthread_mutex_unlock(&server->lock);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = descriptor};
  epoll_ctl(server->poll, EPOLL_CTL_ADD, descriptor, &event);
}

static void take_request(silent_server *server, int descriptor) {
  char buffer[4096];
  // When the client closes a connection, there is nothing to read. This is not counted as a request.
  if (recv(descriptor, buffer, sizeof buffer, 0) <= 0) return;
  pthread_mutex_lock(&server->lock);
  server->asked++;
  pthread_cond_broadcast(&server->changed);
  pthread_mutex_unlock(&server->lock);
}

static void *serve(void *context) {
  silent_server *server = context;
  struct epoll_event events[BATCH];
  for (;;) {
    int count = epoll_wait(server->poll, events, BATCH, -1);
    for (int index = 0; index < count; index++) {
      if (events[index].data.fd == server->listener) take_connection(server);
      else take_request(server, events[index].data.fd);
    }
  }
  return NULL;
}

silent_server *silent_server_create(int limit) {
  silent_server *server = calloc(1, sizeof *server);
  if (!server) return NULL;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  server->limit = limit;
  server->connections = calloc((size_t)limit, sizeof *server->connections);
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  server->poll = epoll_create1(EPOLL_CLOEXEC);
  pthread_mutex_init(&server->lock, NULL);
  pthread_cond_init(&server->changed, NULL);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = server->listener};
  if (!server->connections || server->listener < 0 || server->poll < 0
      || bind(server->listener, (struct sockaddr *)&address, size) != 0 || listen(server->listener, 4096) != 0
      || getsockname(server->listener, (struct sockaddr *)&address, &size) != 0
      || epoll_ctl(server->poll, EPOLL_CTL_ADD, server->listener, &event) != 0
      || pthread_create(&server->thread, NULL, serve, server) != 0)
    return NULL;
  server->port = ntohs(address.sin_port);
  return server;
}

int silent_server_port(const silent_server *server) { return server->port; }

int silent_server_wait(silent_server *server, int count) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  pthread_mutex_lock(&server->lock);
  int error = 0;
  while (server->asked < count && error == 0) error = pthread_cond_timedwait(&server->changed, &server->lock, &end);
  int has_all = server->asked >= count;
  pthread_mutex_unlock(&server->lock);
  return has_all;
}

void silent_server_answer(silent_server *server) {
  static const char response[] =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 25\r\n\r\n{\"name\": \"a\", \"count\": 1}";
  pthread_mutex_lock(&server->lock);
  for (int index = 0; index < server->accepted; index++)
    (void)!send(server->connections[index], response, sizeof response - 1, MSG_NOSIGNAL);
  server->asked = 0;
  pthread_mutex_unlock(&server->lock);
}

int silent_server_open_count(silent_server *server) {
  pthread_mutex_lock(&server->lock);
  int count = 0;
  for (int index = 0; index < server->accepted; index++) {
    struct pollfd state = {.fd = server->connections[index], .events = POLLRDHUP};
    if (poll(&state, 1, 0) == 0) count++;
  }
  pthread_mutex_unlock(&server->lock);
  return count;
}

void silent_server_destroy(silent_server *server) {
  // The thread can be cancelled only inside system calls, and there it holds no lock and owns no memory.
  pthread_cancel(server->thread);
  pthread_join(server->thread, NULL);
  for (int index = 0; index < server->accepted; index++) close(server->connections[index]);
  close(server->listener);
  close(server->poll);
  free(server->connections);
  free(server);
}
