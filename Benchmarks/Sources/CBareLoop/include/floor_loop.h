// The least that a client can do: epoll, one send and one recv for each request, the same bytes each time. Of a response
// it reads only what says where it ends: the lines of the head, and Content-Length. With TLS, the same on OpenSSL.
#ifndef SLUICE_FLOOR_LOOP_H
#define SLUICE_FLOOR_LOOP_H
#include <stdint.h>

typedef struct floor_loop floor_loop;

// Connects to a port of this machine, over TLS 1.3 if a PEM file of the authority to trust is given. The request is a whole
// one. Returns NULL if a resource is not available or a handshake fails.
floor_loop *_Nullable floor_loop_create(
    int port, int connections, const char *_Nonnull request, const char *_Nullable authority);

// Sends this many requests on the calling thread, one at a time on each connection. A response must have a Content-Length
// and at most 4 KiB. Returns how many failed; after a failure, the loop cannot run again.
long floor_loop_run(floor_loop *_Nonnull loop, long requests);

void floor_loop_destroy(floor_loop *_Nullable loop);

#endif
