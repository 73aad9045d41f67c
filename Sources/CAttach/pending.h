// Handles that the program has added to a multi handle and that libcurl does not have yet, because a request stage is
// suspended. The program does not wait in curl_multi_add_handle: its calls of libcurl look whether the stage was resumed, and
// the times that it learns are bounded, so that it comes back.
//
// One thread at a time uses a multi handle and what is pending in it, as libcurl demands.
#ifndef SLUICE_ATTACH_PENDING_H
#define SLUICE_ATTACH_PENDING_H
#include "handle.h"

/// Whether a handle is pending anywhere in the process. Costs one load.
bool pending_exists(void);

/// Takes a handle whose transfer waits.
///
/// @return false if the program must wait itself, for want of memory
bool pending_add(CURLM *multi, struct handle *handle);

/// Libcurl will not get the handle. Does nothing for one that is not pending.
void pending_remove(struct handle *handle);

/// Gives libcurl the handles of a multi handle that are ready; call it before libcurl's function.
void pending_serve(CURLM *multi);

/// Call it after libcurl's function: lets the program's timer come back early enough, and counts what is pending.
///
/// @param running gets them added; may be NULL
void pending_resume(CURLM *multi, int *running);

/// How long the program may wait at most, of `milliseconds` that it would wait; -1 for ever.
long pending_bound(CURLM *multi, long milliseconds);

/// The message about a handle that libcurl did not take; NULL for none.
CURLMsg *pending_message(CURLM *multi, int *left);

/// Notes the program's timer function (CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA).
void pending_note(CURLM *multi, const struct libcurl *curl, CURLMoption option, void *value);

/// The multi handle does not exist any more, or did not exist before.
void pending_forget(CURLM *multi);

/// Around fork().
void pending_lock(void);
void pending_unlock(void);

#endif
