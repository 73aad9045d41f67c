// The multi handles with pending handles, for the files that implement them: pending.c and pending_serve.c. The first
// is also used around fork(), so it calls nothing of a transfer.
#ifndef SLUICE_ATTACH_PENDING_PARTS_H
#define SLUICE_ATTACH_PENDING_PARTS_H
#include "pending.h"

/// A multi handle with a timer function or with pending handles.
struct multi {
  struct multi *next;
  CURLM *multi;
  const struct libcurl *curl;
  curl_multi_timer_callback timer;
  void *timer_data;
  /// In the order in which the program has added them.
  struct handle *first;
  /// Whether this library has set the program's timer to a time that differs from libcurl's.
  bool is_armed;
  /// Whether this library is calling libcurl or the program for this multi handle. A call of the program on it is then
  /// a nested call.
  bool is_busy;
};

/// The entry of a multi handle; NULL if it has no timer function and no pending handles.
struct multi *pending_find(CURLM *multi);

/// Removes a handle, which is then not pending any more.
void pending_unlink(struct multi *known, struct handle *handle);

#endif
