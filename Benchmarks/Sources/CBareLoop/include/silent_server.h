// A server on a separate thread. It accepts connections at once, and answers requests only when `silent_server_answer`
// is called.
#ifndef SLUICE_SILENT_SERVER_H
#define SLUICE_SILENT_SERVER_H
#include <stdint.h>

typedef struct silent_server silent_server;

// Listens on a free port of 127.0.0.1. Returns NULL if a resource is not available.
silent_server *_Nullable silent_server_create(int limit);

int silent_server_port(const silent_server *_Nonnull server);

// Waits until this many connections have sent a request. Returns false after a minute.
int silent_server_wait(silent_server *_Nonnull server, int count);

// Answers each request that has arrived so far.
void silent_server_answer(silent_server *_Nonnull server);

// The number of connections that the client has not closed.
int silent_server_open_count(silent_server *_Nonnull server);

// Closes all connections.
void silent_server_destroy(silent_server *_Nonnull server);

#endif
