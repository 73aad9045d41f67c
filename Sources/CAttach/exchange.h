// Exchanges that plugins make: with a libcurl of the program, on threads of the host.
#ifndef SLUICE_ATTACH_EXCHANGE_H
#define SLUICE_ATTACH_EXCHANGE_H
#include "CAttachABI.h"
#include "libcurl.h"

/// Makes the libcurl of a transfer the one for exchanges, unless another one came first. Call it in the thread of the
/// transfer, inside of the host.
void exchange_use(const struct libcurl *curl);

/// The program gives libcurl memory functions of its own. They need not be ready for a thread that the program does not
/// know of, so this process makes no exchange.
void exchange_note_own_memory(void);

/// The function `exchange` of `struct sluice_attach_program`.
void exchange_make(const struct sluice_attach_exchange *exchange, struct sluice_attach_exchanged *exchanged);

/// Its function `release`.
void exchange_release(struct sluice_attach_exchanged *exchanged);

/// Around fork(): libcurl waits for the network at most, so that no lock of it or of a TLS library is held by a thread
/// that does not exist in the child. Waits at most until a moment of CLOCK_MONOTONIC.
///
/// @return whether it is locked
bool exchange_lock(const struct timespec *until);
void exchange_unlock(void);

/// In the child, in place of `exchange_unlock`: closes what the exchanges of the parent have open.
///
/// @param is_locked what `exchange_lock` has returned
void exchange_forget_all(bool is_locked);

#endif
