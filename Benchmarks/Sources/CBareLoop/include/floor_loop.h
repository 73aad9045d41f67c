// The least that a client can do: epoll, and one send and one recv for each request, with the same bytes each time. It
// reads the head of a response only to find the Content-Length, and thus the end of the response. With TLS, it does the
// same on OpenSSL.
#ifndef SLUICE_FLOOR_LOOP_H
#define SLUICE_FLOOR_LOOP_H
#include <stdint.h>

typedef struct floor_loop floor_loop;

// Connects to a port of this machine, over TLS 1.3 if a PEM file of the authority to trust is given. `request` is a
// complete HTTP request. Returns NULL if a resource is not available or a handshake fails.
floor_loop *_Nullable floor_loop_create(
    int port, int connections, const char *_Nonnull request, const char *_Nullable authority);

// Sends this many requests on the calling thread, one at a time on each connection. A response must have a Content-Length
// and at most 4 KiB. Returns how many failed; after a failure, the loop cannot run again.
long floor_loop_run(floor_loop *_Nonnull loop, long requests);

void floor_loop_destroy(floor_loop *_Nullable loop);

#endif
