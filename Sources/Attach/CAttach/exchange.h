// Makes the exchanges of plugins, with a libcurl of the program and on threads of the host.
#ifndef SLUICE_ATTACH_EXCHANGE_H
#define SLUICE_ATTACH_EXCHANGE_H
#include "CAttachABI.h"
#include "libcurl.h"

/// Chooses the libcurl of a transfer as the libcurl for exchanges, unless one was chosen before. Call it in the thread
/// of the transfer, inside the host.
///
/// @param calls_out whether plugins of the plan may make exchanges
void exchange_use(const struct libcurl *curl, bool calls_out);

/// Notes that the program gives libcurl its own memory functions. These functions might not work on a thread of the
/// host, so this process makes no exchange.
void exchange_note_own_memory(void);

/// The function `exchange` of `struct sluice_attach_program`.
void exchange_make(const struct sluice_attach_exchange *exchange, struct sluice_attach_exchanged *exchanged);

/// The function `release` of `struct sluice_attach_program`.
void exchange_release(struct sluice_attach_exchanged *exchanged);

/// Takes a lock before a fork(). While it is held, libcurl does nothing in exchanges except wait for the network. So no
/// lock of libcurl or of its TLS library is held by a thread that does not exist in the child. If the lock is not free,
/// waits for it until the time `until` of CLOCK_MONOTONIC.
///
/// @return whether the lock is held
bool exchange_lock(const struct timespec *until);
void exchange_unlock(void);

/// Call it in the child, in place of `exchange_unlock`. If the lock is held, closes the sockets of the parent's
/// exchanges.
///
/// @param is_locked what `exchange_lock` has returned
void exchange_forget_all(bool is_locked);

#endif
