// Who is at the other end of a Unix socket. In C because the structure takes _GNU_SOURCE, as in mapped_library.h.
#ifndef SLUICE_SOCKET_PEER_H
#define SLUICE_SOCKET_PEER_H
#include <stdint.h>

typedef struct sluice_socket_peer {
  /// When the connection was made, or, seen from a client, when the other side began to listen.
  int32_t process;
  uint32_t user;
} sluice_socket_peer;

/// What the kernel says of the other end (SO_PEERCRED, unix(7)); 0 where it does not, with errno.
int sluice_socket_peer_of(int descriptor, sluice_socket_peer *peer);

#endif
