// Compares the state that plugins share with the process, before and after each call. In C because the floating-point
// modes are in registers, and because the records of calls are.
#ifndef SLUICE_PROCESS_WATCH_H
#define SLUICE_PROCESS_WATCH_H
#include <stdint.h>
#include "call_record.h"

/// Called on the thread of a call that has changed the state, before the call counts as ended. `change` is the end of a
/// sentence about the call: `changed the current folder from "/a" to "/b"`. It is valid during the call.
///
/// `subject` is NULL if the state has changed while no call was compared, for example by a thread of a plugin.
typedef void (*sluice_change_handler)(
    const sluice_call_subject *_Nullable subject, uint32_t callback, const char *_Nonnull change);

/// From now on, compares for each call of each thread: the rounding and flush modes, the signal mask and the locale of
/// the thread, and the current folder, the umask, the locale and the standard streams of the process. A comparison makes
/// several system calls. Must be called once, before any call, when all standard streams are open.
void sluice_watch_process(sluice_change_handler _Nonnull handler);

/// Called on the thread of a call that has closed a descriptor of the host. Must end the process.
typedef void (*sluice_loss_handler)(void);

/// The maximum number of descriptors that are checked.
#define SLUICE_GUARDED_DESCRIPTORS 16u

/// From now on, checks after each compared call that these descriptors are still open and were not replaced. Must be
/// called at most once, while no library is loaded, in a process that does not close these descriptors itself.
void sluice_guard_descriptors(const int *_Nonnull numbers, uint32_t count, sluice_loss_handler _Nonnull handler);

/// Calls a function that restores the state of the process, outside of calls. Changes of plugins are reported before,
/// and what the function changes is not reported.
void sluice_renew_state(void (*_Nonnull restore)(void));

#endif
