// Separates the standard streams of the process from what its libraries read and print. Written in C because of `stdout`, a macro that Swift
// does not consider safe.
#ifndef SLUICE_STANDARD_STREAMS_H
#define SLUICE_STANDARD_STREAMS_H
#include <stdint.h>

/// Returns the former standard output as a descriptor with a new number, close-on-exec, and makes standard output a
/// duplicate of standard error. So all text that is printed to standard output goes to standard error, line by line.
///
/// Stores the former standard input in `input`, as such a descriptor too, and opens standard input on /dev/null. So a
/// library, or a program that it starts, cannot read the input of the process. If standard input was closed at the
/// start, `input` is the descriptor of standard input.
///
/// Stores a duplicate of standard error in `errors`, as such a descriptor too. If a library closes standard error, the
/// process still has this one.
///
/// Closed standard streams are opened on /dev/null, so that no other file gets their numbers; reading from them and
/// writing to them fails as before.
///
/// Returns -1 with EBADF when standard output was closed at the start, and with another errno if no descriptor is free.
/// Must be called once, while the process has one thread.
int sluice_take_standard_streams(int *_Nonnull input, int *_Nonnull errors);

/// Opens the streams again that are closed, so that no other file gets their numbers: standard input on /dev/null, the
/// others on the former standard error, or on /dev/null if the streams were not taken. Returns the numbers of the streams
/// that were closed, as bits. [any thread]
uint32_t sluice_fill_streams(void);

#endif
