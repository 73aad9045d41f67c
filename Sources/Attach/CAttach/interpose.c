// The functions that the program calls in place of libcurl's. Each of them calls the function of libcurl that the
// caller would have reached without this library.
#define _GNU_SOURCE
#include "exchange.h"
#include "handle.h"
#include "interposed.h"
#include "pending.h"
#include "session.h"
#include "transfer.h"

#include <stdarg.h>
#include <string.h>

#define INTERPOSED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/// The entry of a handle, if the pipeline is on in this process.
static struct handle *known(CURL *easy) { return session_is_on && easy ? handle_find(easy) : NULL; }

static const struct libcurl *libcurl(const struct handle *handle, const void *caller) {
  return handle ? handle->curl : libcurl_of(caller);
}

/// Forgets an earlier handle with the same address. Libcurl can free a handle without a call that this library sees.
static void forget_earlier(CURL *easy) {
  struct handle *handle = handle_find(easy);
  if (!handle) return;
  pending_remove(handle);
  transfer_abandon(handle);
  handle_forget(easy);
}

/// Creates the entry of a handle that has none, because this library did not see the call that created the handle, or
/// because memory had run out. The options that were set until now are not known.
static struct handle *meet(CURL *easy, const struct libcurl *curl) {
  if (!session_is_on || !easy || curl->is_for_itself) return NULL;
  struct handle *handle = handle_get(easy, curl);
  if (handle) handle->options.is_incomplete = true;
  return handle;
}

/// Whether a transfer on a handle that has no entry must be refused.
static bool is_refused_unseen(CURL *easy, const struct libcurl *curl) {
  return session_is_on && easy && !curl->is_for_itself && session_fails_without_pipeline();
}

INTERPOSED CURL *curl_easy_init(void) {
  const struct libcurl *curl = libcurl_of(CALLER);
  CURL *easy = curl->easy_init ? curl->easy_init() : NULL;
  if (!easy || !session_is_on) return easy;
  session_prepare();
  forget_earlier(easy);
  if (!curl->is_for_itself) handle_get(easy, curl);
  return easy;
}

/// The program's memory functions might not work on other threads, so exchanges are switched off.
INTERPOSED CURLcode curl_global_init_mem(
    long flags, curl_malloc_callback allocate, curl_free_callback release, curl_realloc_callback resize,
    curl_strdup_callback duplicate, curl_calloc_callback clear) {
  const struct libcurl *curl = libcurl_of(CALLER);
  exchange_note_own_memory();
  if (!curl->global_init_mem) return CURLE_FAILED_INIT;
  return curl->global_init_mem(flags, allocate, release, resize, duplicate, clear);
}

/// Each option takes one argument of the size of a pointer: a pointer, a long or a curl_off_t.
INTERPOSED CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...) {
  va_list arguments;
  va_start(arguments, option);
  void *value = va_arg(arguments, void *);
  va_end(arguments);
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->easy_setopt) return CURLE_FAILED_INIT;
  if (!handle) handle = meet(easy, curl);
  if (handle && transfer_replaces(handle, option)) {
    options_note(&handle->options, option, value);
    return CURLE_OK;
  }
  const CURLcode code = curl->easy_setopt(easy, option, value);
  if (handle && code == CURLE_OK) options_note(&handle->options, option, value);
  return code;
}

/// Whether libcurl will refuse a transfer on the handle, because another one is running.
static bool is_busy(const struct handle *handle) { return handle->is_performing || handle->multi; }

INTERPOSED CURLcode curl_easy_perform(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->easy_perform) return CURLE_FAILED_INIT;
  if (!handle) handle = meet(easy, curl);
  if (!handle && is_refused_unseen(easy, curl)) return CURLE_OUT_OF_MEMORY;
  // Returns the error that libcurl would return. Libcurl itself does not know of pending handles, nor of callbacks that
  // this library calls after the end of a transfer.
  if (handle && (handle->is_in_callback || handle->pending)) return CURLE_FAILED_INIT;
  if (!handle || is_busy(handle)) return curl->easy_perform(easy);
  CURLcode code = transfer_begin(handle);
  if (code != CURLE_OK) return code;
  handle->is_performing = true;
  code = transfer_settle(handle, curl->easy_perform(easy));
  handle->is_performing = false;
  transfer_end(handle, code, false);
  return code;
}

INTERPOSED void curl_easy_reset(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (handle && !handle->is_performing && !handle->is_in_callback) transfer_end(handle, CURLE_OK, true);
  if (curl->easy_reset) curl->easy_reset(easy);
  // A pending handle stays in its multi handle; the next call gives it to libcurl.
  if (handle) options_clear(&handle->options);
}

INTERPOSED CURLcode curl_easy_pause(CURL *easy, int what) {
  struct handle *handle = pending_exists() ? known(easy) : NULL;
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->easy_pause) return CURLE_FAILED_INIT;
  const CURLcode code = curl->easy_pause(easy, what);
  if (handle && handle->multi) pending_resume(handle->multi, NULL);
  return code;
}

/// Libcurl itself also calls this function, to create the handle of a pushed response.
INTERPOSED CURL *curl_easy_duphandle(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  CURL *copy = curl->easy_duphandle ? curl->easy_duphandle(easy) : NULL;
  if (!copy || !handle) return copy;
  forget_earlier(copy);
  // The copy also has the settings that the pipeline has made for the transfer on the original. They are undone.
  transfer_undo_copy(handle, copy);
  struct handle *made = handle_get(copy, curl);
  if (made) options_copy(&made->options, &handle->options);
  return copy;
}

INTERPOSED void curl_easy_cleanup(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (handle) {
    pending_remove(handle);
    transfer_end(handle, CURLE_OK, true);
    // The entry is removed before libcurl frees the handle: as soon as it is free, another thread can get a handle with
    // the same address.
    handle_forget(easy);
  }
  if (curl->easy_cleanup) curl->easy_cleanup(easy);
}

// MARK: Multi handles

/// Forgets an earlier multi handle with the same address, which may have been freed without a call that this library
/// sees.
INTERPOSED CURLM *curl_multi_init(void) {
  const struct libcurl *curl = libcurl_of(CALLER);
  CURLM *multi = curl->multi_init ? curl->multi_init() : NULL;
  if (multi && session_is_on) pending_forget(multi);
  return multi;
}

/// Each option takes one argument of the size of a pointer.
INTERPOSED CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...) {
  va_list arguments;
  va_start(arguments, option);
  void *value = va_arg(arguments, void *);
  va_end(arguments);
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_setopt) return CURLM_INTERNAL_ERROR;
  const CURLMcode code = curl->multi_setopt(multi, option, value);
  if (code == CURLM_OK && session_is_on && !curl->is_for_itself) pending_note(multi, curl, option, value);
  return code;
}

/// Adds a handle whose request stage is suspended. The program continues, and libcurl gets the handle later.
static CURLMcode add_later(CURLM *multi, struct handle *handle) {
  long unused = 0;
  // Returns the error that libcurl would return: the multi handle may be invalid, or the program may be in a callback.
  CURLMcode code = handle->curl->multi_timeout ? handle->curl->multi_timeout(multi, &unused) : CURLM_OK;
  if (code != CURLM_OK) {
    transfer_end(handle, CURLE_FAILED_INIT, true);
    return code;
  }
  handle->multi = multi;
  if (handle->curl->multi_timeout && pending_add(multi, handle)) {
    pending_resume(multi, NULL);
    return CURLM_OK;
  }
  if (transfer_go_on(handle, true) == TRANSFER_READY) code = handle->curl->multi_add_handle(multi, handle->easy);
  else code = CURLM_OUT_OF_MEMORY;
  if (code == CURLM_OK) return code;
  handle->multi = NULL;
  transfer_end(handle, CURLE_FAILED_INIT, false);
  return code;
}

INTERPOSED CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->multi_add_handle) return CURLM_INTERNAL_ERROR;
  if (!handle) handle = meet(easy, curl);
  if (!handle && is_refused_unseen(easy, curl)) return CURLM_OUT_OF_MEMORY;
  // curl_easy_perform of Debian's libcurl calls this function for a handle whose transfer has already begun.
  if (handle && (handle->pending || handle->is_in_callback)) return CURLM_ADDED_ALREADY;
  if (!multi || !handle || is_busy(handle)) return curl->multi_add_handle(multi, easy);
  switch (transfer_begin_in_multi(handle)) {
    case TRANSFER_READY: break;
    case TRANSFER_WAITS: return add_later(multi, handle);
    case TRANSFER_FAILED:
      transfer_end(handle, CURLE_OUT_OF_MEMORY, false);
      return CURLM_OUT_OF_MEMORY;
  }
  const CURLMcode code = curl->multi_add_handle(multi, easy);
  if (code == CURLM_OK) handle->multi = multi;
  else transfer_end(handle, CURLE_FAILED_INIT, false);
  return code;
}

static void leave_multi(struct handle *handle) {
  pending_remove(handle);
  handle->multi = NULL;
  transfer_end(handle, CURLE_OK, true);
}

INTERPOSED CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->multi_remove_handle) return CURLM_INTERNAL_ERROR;
  if (handle && handle->is_in_callback && handle->multi == multi) return CURLM_RECURSIVE_API_CALL;
  if (handle && handle->pending) {
    if (handle->multi != multi) return CURLM_BAD_EASY_HANDLE;
    leave_multi(handle);
    pending_resume(multi, NULL);
    return CURLM_OK;
  }
  const CURLMcode code = curl->multi_remove_handle(multi, easy);
  if (code == CURLM_OK && handle && handle->multi == multi) leave_multi(handle);
  return code;
}

/// While this thread gives the held response of an ended transfer to the program: the multi handle of that transfer,
/// otherwise NULL. During this time, the program is in a callback, but libcurl does not know this.
static _Thread_local const CURLM *ending;

INTERPOSED CURLMsg *curl_multi_info_read(CURLM *multi, int *left) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (ending && ending == multi) return NULL;
  CURLMsg *message = curl->multi_info_read ? curl->multi_info_read(multi, left) : NULL;
  if (!message && pending_exists()) message = pending_message(multi, left);
  if (!message || message->msg != CURLMSG_DONE) return message;
  struct handle *handle = known(message->easy_handle);
  if (!handle || handle->is_performing || handle->is_in_callback) return message;
  const CURLM *outer = ending;
  ending = multi;
  message->data.result = transfer_settle(handle, message->data.result);
  ending = outer;
  transfer_end(handle, message->data.result, false);
  return message;
}

/// Libcurl itself removes the handles that are still in the multi handle.
INTERPOSED CURLMcode curl_multi_cleanup(CURLM *multi) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_cleanup) return CURLM_INTERNAL_ERROR;
  if (ending && ending == multi) return CURLM_RECURSIVE_API_CALL;
  const CURLMcode code = curl->multi_cleanup(multi);
  if (code != CURLM_OK || !session_is_on || curl->is_for_itself) return code;
  for (struct handle *handle; (handle = handle_find_in(multi, NULL));) leave_multi(handle);
  pending_forget(multi);
  return code;
}

// MARK: Calls that drive transfers

/// Gives the program the heads that are still held when libcurl has ended all transfers of a multi handle. A program
/// that notices the end by the count of running transfers may never call curl_multi_info_read.
static void end_all(CURLM *multi) {
  const CURLM *outer = ending;
  ending = multi;
  for (struct handle *handle; (handle = handle_find_in(multi, transfer_has_whole_head));) transfer_settle_head(handle);
  ending = outer;
}

/// Must be called after each function of libcurl that drives transfers, with the `code` that it returned. Returns
/// `code`.
static CURLMcode after_driving(CURLM *multi, CURLMcode code, int *running) {
  if (code == CURLM_OK && *running == 0 && reply_exists_whole()) end_all(multi);
  if (pending_exists()) pending_resume(multi, code == CURLM_OK ? running : NULL);
  return code;
}

INTERPOSED CURLMcode curl_multi_perform(CURLM *multi, int *running) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_perform) return CURLM_INTERNAL_ERROR;
  if (pending_exists()) pending_serve(multi);
  return after_driving(multi, curl->multi_perform(multi, running), running);
}

INTERPOSED CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_socket_action) return CURLM_INTERNAL_ERROR;
  if (pending_exists()) pending_serve(multi);
  return after_driving(multi, curl->multi_socket_action(multi, socket, events, running), running);
}

INTERPOSED CURLMcode curl_multi_socket(CURLM *multi, curl_socket_t socket, int *running) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_socket) return CURLM_INTERNAL_ERROR;
  if (pending_exists()) pending_serve(multi);
  return after_driving(multi, curl->multi_socket(multi, socket, running), running);
}

INTERPOSED CURLMcode curl_multi_socket_all(CURLM *multi, int *running) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_socket_all) return CURLM_INTERNAL_ERROR;
  if (pending_exists()) pending_serve(multi);
  return after_driving(multi, curl->multi_socket_all(multi, running), running);
}

// MARK: Calls that wait

typedef CURLMcode (*wait_function)(CURLM *, struct curl_waitfd[], unsigned int, int, int *);

/// Waits for the network, but at most until a pending handle must be checked.
static CURLMcode wait_pending(
    wait_function function, CURLM *multi, struct curl_waitfd *more, unsigned count, int milliseconds, int *ready) {
  pending_serve(multi);
  const long bound = milliseconds < 0 ? milliseconds : pending_bound(multi, milliseconds);
  return function(multi, more, count, (int)bound, ready);
}

INTERPOSED CURLMcode curl_multi_poll(
    CURLM *multi, struct curl_waitfd more[], unsigned int count, int milliseconds, int *ready) {
  const struct libcurl *curl = libcurl_of(CALLER);
  // A program that looks up curl_multi_poll with dlsym finds this function even if its libcurl has no such function.
  const wait_function function = curl->multi_poll ? curl->multi_poll : curl->multi_wait;
  if (!function) return CURLM_INTERNAL_ERROR;
  if (!pending_exists()) return function(multi, more, count, milliseconds, ready);
  return wait_pending(function, multi, more, count, milliseconds, ready);
}

INTERPOSED CURLMcode curl_multi_wait(
    CURLM *multi, struct curl_waitfd more[], unsigned int count, int milliseconds, int *ready) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_wait) return CURLM_INTERNAL_ERROR;
  if (!pending_exists()) return curl->multi_wait(multi, more, count, milliseconds, ready);
  // Without a descriptor, curl_multi_wait does not wait at all, and the program would loop without a pause.
  const wait_function function = curl->multi_poll ? curl->multi_poll : curl->multi_wait;
  return wait_pending(function, multi, more, count, milliseconds, ready);
}

INTERPOSED CURLMcode curl_multi_timeout(CURLM *multi, long *milliseconds) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_timeout) return CURLM_INTERNAL_ERROR;
  const CURLMcode code = curl->multi_timeout(multi, milliseconds);
  if (code == CURLM_OK && pending_exists()) *milliseconds = pending_bound(multi, *milliseconds);
  return code;
}

void *interposed_function(const char *name) {
  static const struct {
    const char *name;
    void *function;
  } functions[] = {
      {"curl_global_init_mem", curl_global_init_mem},
      {"curl_easy_init", curl_easy_init},
      {"curl_easy_setopt", curl_easy_setopt},
      {"curl_easy_perform", curl_easy_perform},
      {"curl_easy_reset", curl_easy_reset},
      {"curl_easy_pause", curl_easy_pause},
      {"curl_easy_duphandle", curl_easy_duphandle},
      {"curl_easy_cleanup", curl_easy_cleanup},
      {"curl_multi_add_handle", curl_multi_add_handle},
      {"curl_multi_remove_handle", curl_multi_remove_handle},
      {"curl_multi_info_read", curl_multi_info_read},
      {"curl_multi_cleanup", curl_multi_cleanup},
      {"curl_multi_init", curl_multi_init},
      {"curl_multi_setopt", curl_multi_setopt},
      {"curl_multi_perform", curl_multi_perform},
      {"curl_multi_socket", curl_multi_socket},
      {"curl_multi_socket_action", curl_multi_socket_action},
      {"curl_multi_socket_all", curl_multi_socket_all},
      {"curl_multi_poll", curl_multi_poll},
      {"curl_multi_wait", curl_multi_wait},
      {"curl_multi_timeout", curl_multi_timeout},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++)
    if (strcmp(functions[index].name, name) == 0) return functions[index].function;
  return NULL;
}
