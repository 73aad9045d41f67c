// Handles that the program has added to a multi handle and that libcurl does not have yet, because a request stage is
// suspended. The program does not wait in curl_multi_add_handle. Instead, its later calls of libcurl check whether the
// stage was resumed. The timeouts that the program gets are limited, so that it calls again soon.
//
// One thread at a time uses a multi handle and its pending handles, as libcurl demands.
#ifndef SLUICE_ATTACH_PENDING_H
#define SLUICE_ATTACH_PENDING_H
#include "handle.h"

/// Whether a handle is pending anywhere in the process. Costs one load.
bool pending_exists(void);

/// Adds a handle whose transfer waits for a stage.
///
/// @return false if memory ran out, so that the calling thread must wait for the stage
bool pending_add(CURLM *multi, struct handle *handle);

/// Removes a handle, so that libcurl will not get it. Does nothing for a handle that is not pending.
void pending_remove(struct handle *handle);

/// Gives libcurl the pending handles of a multi handle that are ready. Call it before libcurl's function.
void pending_serve(CURLM *multi);

/// Sets the program's timer so that the program calls again in time, and counts the pending handles. Call it after
/// libcurl's function.
///
/// @param running is increased by their number; may be NULL
void pending_resume(CURLM *multi, int *running);

/// The longest time that the program may wait, if libcurl lets it wait `milliseconds`; -1 means without limit.
long pending_bound(CURLM *multi, long milliseconds);

/// Returns the message about a handle that libcurl did not accept, or NULL if there is no such message.
CURLMsg *pending_message(CURLM *multi, int *left);

/// Notes the program's timer function (CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA).
void pending_note(CURLM *multi, const struct libcurl *curl, CURLMoption option, void *value);

/// Forgets a multi handle that was freed, or an earlier multi handle at the address of a new one.
void pending_forget(CURLM *multi);

/// Around fork().
void pending_lock(void);
void pending_unlock(void);

#endif
