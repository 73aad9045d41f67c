// Keeps the process's own output apart from what its libraries print. In C because of `stdout`, a macro that Swift does not
// take for safe.
#ifndef SLUICE_STANDARD_STREAMS_H
#define SLUICE_STANDARD_STREAMS_H

/// Gives what was standard output as a descriptor with a number of its own, closed on exec, and makes standard output another
/// name of standard error: whatever is printed there is a message, line by line. Standard streams that are closed are opened
/// on /dev/null, so that no other file gets their numbers; what is read from them or written to them fails as before.
///
/// -1 with EBADF where standard output was closed at the start, and with another errno where no descriptor is left. To be
/// called once, while there is one thread.
int sluice_take_standard_output(void);

#endif
