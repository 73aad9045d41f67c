// The least that a client can do: epoll, one send and one recv for each request, the same bytes each time, and nothing
// of the response is read but its length.
#ifndef SLUICE_FLOOR_LOOP_H
#define SLUICE_FLOOR_LOOP_H
#include <stdint.h>

typedef struct floor_loop floor_loop;

// Connects to a port of this machine. The request is a whole one, and each response must have as many bytes as the first.
// Returns NULL if a resource is not available, or if a response has no Content-Length.
floor_loop *_Nullable floor_loop_create(int port, int connections, const char *_Nonnull request);

// Sends this many requests on the calling thread, one at a time on each connection. Returns how many failed.
long floor_loop_run(floor_loop *_Nonnull loop, long requests);

void floor_loop_destroy(floor_loop *_Nullable loop);

#endif
