#define _GNU_SOURCE
#include "socket_peer.h"

#include <sys/socket.h>

int sluice_socket_peer_of(int descriptor, sluice_socket_peer *peer) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return 0;
  *peer = (sluice_socket_peer){.process = credentials.pid, .user = credentials.uid};
  return 1;
}
