// Handles that the program has added to a multi handle and that libcurl does not have yet, because a request stage is
// suspended. The program does not wait in curl_multi_add_handle: its calls of libcurl check whether the stage was
// resumed, and the timeouts that it gets are limited, so that it calls again.
//
// One thread at a time uses a multi handle and what is pending in it, as libcurl demands.
#ifndef SLUICE_ATTACH_PENDING_H
#define SLUICE_ATTACH_PENDING_H
#include "handle.h"

/// Whether a handle is pending anywhere in the process. Costs one load.
bool pending_exists(void);

/// Adds a handle whose transfer waits for a stage.
///
/// @return false if memory ran out, so that the calling thread must wait for the stage
bool pending_add(CURLM *multi, struct handle *handle);

/// Removes a handle, which libcurl will not get. Does nothing for a handle that is not pending.
void pending_remove(struct handle *handle);

/// Gives libcurl the handles of a multi handle that are ready; call it before libcurl's function.
void pending_serve(CURLM *multi);

/// Call it after libcurl's function: sets the program's timer early enough, and counts the pending handles.
///
/// @param running is increased by their number; may be NULL
void pending_resume(CURLM *multi, int *running);

/// How long the program may wait at most, if it would wait `milliseconds`; -1 for ever.
long pending_bound(CURLM *multi, long milliseconds);

/// The message about a handle that libcurl did not accept; NULL without such a message.
CURLMsg *pending_message(CURLM *multi, int *left);

/// Notes the program's timer function (CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA).
void pending_note(CURLM *multi, const struct libcurl *curl, CURLMoption option, void *value);

/// Forgets a multi handle that exists no more, or one that had the address of a new multi handle.
void pending_forget(CURLM *multi);

/// Around fork().
void pending_lock(void);
void pending_unlock(void);

#endif
