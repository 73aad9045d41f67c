// The other end of a socket, and what the kernel knows about it. In C because this needs _GNU_SOURCE, as in
// mapped_library.h.
#ifndef SLUICE_SOCKET_PEER_H
#define SLUICE_SOCKET_PEER_H
#include <stdint.h>

typedef struct sluice_socket_peer {
  /// The process of the peer, and the user of that process. In a server, they are those at the time at which the client
  /// connected; in a client, those at the time at which the server began to listen.
  int32_t process;
  uint32_t user;
} sluice_socket_peer;

/// Asks the kernel about the other end (SO_PEERCRED, unix(7)). Returns 1, or 0 with errno.
int sluice_socket_peer_of(int descriptor, sluice_socket_peer *peer);

/// Takes a connection that waits at a listening socket. The new descriptor does not block, and is closed by exec.
/// Returns -1 with errno on an error.
int sluice_socket_accept(int listener);

/// Returns 1 if the other end has closed the connection or its own direction, or if the connection is broken; otherwise
/// 0. Data that arrived before may still be unread.
int sluice_socket_peer_has_closed(int descriptor);

/// The milliseconds since data last arrived at a TCP socket (tcp(7), TCP_INFO); -1 if the kernel does not say.
int64_t sluice_socket_milliseconds_since_data(int descriptor);

#endif
