// Leaves a record when the process crashes. In C because a signal handler may call next to nothing.
#ifndef SLUICE_CRASH_HANDLER_H
#define SLUICE_CRASH_HANDLER_H
#include <stdint.h>

/// Has SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE and SIGABRT write a record to the descriptor, which stays the caller's and open, and
/// then end the process as they did before; the record's form is in `CrashRecord.swift`. Once; a second call exchanges the
/// descriptor. Threads that call plugins for the first time from here on get an alternate stack.
///
/// The process ends `limit_milliseconds` after a crash in any case, its record whole or not.
///
/// 0, or -1 with errno: ENOTSUP under a sanitizer, which has handlers of its own. [any]
int sluice_install_crash_handler(int descriptor, uint32_t limit_milliseconds);

#endif
