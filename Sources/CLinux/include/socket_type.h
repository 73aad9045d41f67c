// Socket types. Several modules include <sys/socket.h>, and which of them Swift finds the enumeration in depends on the
// build; these names are always here.
#ifndef SLUICE_SOCKET_TYPE_H
#define SLUICE_SOCKET_TYPE_H
#include <sys/socket.h>

static const int sluice_socket_stream = SOCK_STREAM;
/// Or-ed to a type: no child process inherits the socket.
static const int sluice_socket_close_on_exec = SOCK_CLOEXEC;

#endif
