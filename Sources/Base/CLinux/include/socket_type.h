// Constants of sockets. Several modules include <sys/socket.h>, and Swift finds its enumerations in only one of them.
// Which one differs from build to build, so this header defines names that are always available.
#ifndef SLUICE_SOCKET_TYPE_H
#define SLUICE_SOCKET_TYPE_H
#include <sys/socket.h>

static const int sluice_socket_stream = SOCK_STREAM;
static const int sluice_socket_datagram = SOCK_DGRAM;
/// A flag for a type: no child process inherits the socket.
static const int sluice_socket_close_on_exec = SOCK_CLOEXEC;
/// A flag for a type: no call on the socket blocks.
static const int sluice_socket_nonblocking = SOCK_NONBLOCK;

/// What shutdown(2) closes: the side of this process, or both.
static const int sluice_shutdown_sending = SHUT_WR;
static const int sluice_shutdown_both = SHUT_RDWR;

#endif
