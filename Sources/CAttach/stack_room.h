#ifndef SLUICE_ATTACH_STACK_ROOM_H
#define SLUICE_ATTACH_STACK_ROOM_H
#include <stdbool.h>

/// Whether this thread has enough stack left for a call of the host. Asks the system once for each thread.
bool stack_has_room(void);

#endif
