#define _GNU_SOURCE
#include "socket_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>

int sluice_socket_peer_of(int descriptor, sluice_socket_peer *peer) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return 0;
  *peer = (sluice_socket_peer){.process = credentials.pid, .user = credentials.uid};
  return 1;
}

int sluice_socket_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int sluice_socket_peer_has_closed(int descriptor) {
  struct pollfd state = {.fd = descriptor, .events = POLLRDHUP};
  return poll(&state, 1, 0) > 0 && state.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

int64_t sluice_socket_milliseconds_since_data(int descriptor) {
  struct tcp_info facts;
  socklen_t size = sizeof facts;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) return -1;
  if (size < offsetof(struct tcp_info, tcpi_last_data_recv) + sizeof facts.tcpi_last_data_recv) return -1;
  return facts.tcpi_last_data_recv;
}
