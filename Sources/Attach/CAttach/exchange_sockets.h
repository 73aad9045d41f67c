// The sockets of exchanges. The program does not know these sockets: it may close every descriptor, reuse their
// numbers, or fork. The caller of each function must hold the lock of exchanges.
#ifndef SLUICE_ATTACH_EXCHANGE_SOCKETS_H
#define SLUICE_ATTACH_EXCHANGE_SOCKETS_H
#include "libcurl.h"

/// Makes a handle open and close its sockets with the functions of this file.
void exchange_sockets_set(CURL *easy, const struct libcurl *curl);

/// Opens a mark: a descriptor that shows whether the program closes descriptors that it did not open.
///
/// @return -1 if no number is free
int exchange_sockets_open_mark(void);

/// Whether the mark is still open, because the program has not closed it.
bool exchange_sockets_has_mark(int mark);

void exchange_sockets_close_mark(int mark);

/// Closes all sockets and marks that are still open. For the child of a fork().
void exchange_sockets_close(void);

#endif
