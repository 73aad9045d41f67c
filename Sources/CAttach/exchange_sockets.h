// The sockets of exchanges. The program knows nothing of them: it may close every descriptor, use the number for
// something else, or fork. All functions are called with the lock of exchanges.
#ifndef SLUICE_ATTACH_EXCHANGE_SOCKETS_H
#define SLUICE_ATTACH_EXCHANGE_SOCKETS_H
#include "libcurl.h"

/// Makes a handle take its sockets from here.
void exchange_sockets_set(CURL *easy, const struct libcurl *curl);

/// Opens a descriptor that shows whether the program closes descriptors which are not its own.
///
/// @return -1 if no number is free
int exchange_sockets_open_mark(void);

/// Whether the program has not closed it.
bool exchange_sockets_has_mark(int mark);

void exchange_sockets_close_mark(int mark);

/// Closes what is open. For the child of a fork().
void exchange_sockets_close(void);

#endif
