// Writes a record when the process crashes. In C because a signal handler may call very few functions.
#ifndef SLUICE_CRASH_HANDLER_H
#define SLUICE_CRASH_HANDLER_H
#include <stdint.h>

/// Installs a handler for SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE and SIGABRT. The handler writes a record to the
/// descriptor. Then the signal ends the process as it would without the handler. `CrashRecord.swift` has the form of
/// the record. The caller owns the descriptor and must keep it open; a second call only replaces the descriptor.
/// Threads that call plugins for the first time after this get an alternate stack.
///
/// Writing the record takes at most `limit_milliseconds`; then the process ends, even if the record is not complete. A
/// handler that was installed before this one runs after the record, without a limit.
///
/// Returns 0, or -1 with errno: ENOTSUP under a sanitizer, which has its own handlers. [any]
int sluice_install_crash_handler(int descriptor, uint32_t limit_milliseconds);

#endif
