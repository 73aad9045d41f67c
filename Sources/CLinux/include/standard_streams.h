// Separates the process's own output from what its libraries print. Written in C because of `stdout`, a macro that Swift
// does not consider safe.
#ifndef SLUICE_STANDARD_STREAMS_H
#define SLUICE_STANDARD_STREAMS_H

/// Returns the former standard output as a descriptor with a new number, close-on-exec, and makes standard output a
/// duplicate of standard error. So all text that is printed to standard output goes to standard error, line by line.
/// Closed standard streams are opened on /dev/null, so that no other file gets their numbers; reading from them and
/// writing to them fails as before.
///
/// Returns -1 with EBADF when standard output was closed at the start, and with another errno if no descriptor is free.
/// Must be called once, while the process has one thread.
int sluice_take_standard_output(void);

#endif
