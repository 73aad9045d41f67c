// The functions of libcurl that the program calls here first. Each goes on to the definition that the caller would have
// reached without this library.
#define _GNU_SOURCE
#include "handle.h"
#include "interposed.h"
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

/// Libcurl has freed a handle by a function that this library does not see, and uses its address again.
static void forget_earlier(CURL *easy) {
  struct handle *handle = handle_find(easy);
  if (!handle) return;
  transfer_abandon(handle);
  handle_forget(easy);
}

/// The entry of a handle that was made unseen, or when there was no memory: what was set until now is not known.
static struct handle *meet(CURL *easy, const struct libcurl *curl) {
  if (!session_is_on || !easy || curl->is_for_itself) return NULL;
  struct handle *handle = handle_get(easy, curl);
  if (handle) handle->options.is_incomplete = true;
  return handle;
}

/// Whether a transfer on a handle without an entry must not run.
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

/// Whether libcurl will refuse a transfer on the handle, because one runs.
static bool is_busy(const struct handle *handle) { return handle->is_performing || handle->multi; }

INTERPOSED CURLcode curl_easy_perform(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->easy_perform) return CURLE_FAILED_INIT;
  if (!handle) handle = meet(easy, curl);
  if (!handle && is_refused_unseen(easy, curl)) return CURLE_OUT_OF_MEMORY;
  // Libcurl does not know that it is in a callback if this library calls it after the end.
  if (handle && handle->is_in_callback) return CURLE_FAILED_INIT;
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
  if (handle) options_clear(&handle->options);
}

/// Libcurl itself comes here for the handle of a pushed response.
INTERPOSED CURL *curl_easy_duphandle(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  CURL *copy = curl->easy_duphandle ? curl->easy_duphandle(easy) : NULL;
  if (!copy || !handle) return copy;
  forget_earlier(copy);
  // The copy has what the pipeline has set for the transfer that runs on the original.
  transfer_undo_copy(handle, copy);
  struct handle *made = handle_get(copy, curl);
  if (made) options_copy(&made->options, &handle->options);
  return copy;
}

INTERPOSED void curl_easy_cleanup(CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (handle) {
    transfer_end(handle, CURLE_OK, true);
    // Before the address is free for a handle of another thread.
    handle_forget(easy);
  }
  if (curl->easy_cleanup) curl->easy_cleanup(easy);
}

INTERPOSED CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->multi_add_handle) return CURLM_INTERNAL_ERROR;
  if (!handle) handle = meet(easy, curl);
  if (!handle && is_refused_unseen(easy, curl)) return CURLM_OUT_OF_MEMORY;
  // curl_easy_perform of Debian's libcurl comes here for a handle whose transfer has begun.
  if (!multi || !handle || is_busy(handle)) return curl->multi_add_handle(multi, easy);
  if (!transfer_begin_in_multi(handle)) {
    transfer_end(handle, CURLE_OUT_OF_MEMORY, false);
    return CURLM_OUT_OF_MEMORY;
  }
  const CURLMcode code = curl->multi_add_handle(multi, easy);
  if (code == CURLM_OK) handle->multi = multi;
  else transfer_end(handle, CURLE_FAILED_INIT, false);
  return code;
}

static void leave_multi(struct handle *handle) {
  handle->multi = NULL;
  transfer_end(handle, CURLE_OK, true);
}

INTERPOSED CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  struct handle *handle = known(easy);
  const struct libcurl *curl = libcurl(handle, CALLER);
  if (!curl->multi_remove_handle) return CURLM_INTERNAL_ERROR;
  if (handle && handle->is_in_callback) return CURLM_RECURSIVE_API_CALL;
  const CURLMcode code = curl->multi_remove_handle(multi, easy);
  if (code == CURLM_OK && handle && handle->multi == multi) leave_multi(handle);
  return code;
}

INTERPOSED CURLMsg *curl_multi_info_read(CURLM *multi, int *left) {
  const struct libcurl *curl = libcurl_of(CALLER);
  CURLMsg *message = curl->multi_info_read ? curl->multi_info_read(multi, left) : NULL;
  if (!message || message->msg != CURLMSG_DONE) return message;
  struct handle *handle = known(message->easy_handle);
  if (!handle || handle->is_performing || handle->is_in_callback) return message;
  message->data.result = transfer_settle(handle, message->data.result);
  transfer_end(handle, message->data.result, false);
  return message;
}

/// Libcurl removes the handles that are still in it.
INTERPOSED CURLMcode curl_multi_cleanup(CURLM *multi) {
  const struct libcurl *curl = libcurl_of(CALLER);
  if (!curl->multi_cleanup) return CURLM_INTERNAL_ERROR;
  const CURLMcode code = curl->multi_cleanup(multi);
  if (code != CURLM_OK || !session_is_on || curl->is_for_itself) return code;
  for (struct handle *handle; (handle = handle_find_in(multi));) leave_multi(handle);
  return code;
}

void *interposed_function(const char *name) {
  static const struct {
    const char *name;
    void *function;
  } functions[] = {
      {"curl_easy_init", curl_easy_init},
      {"curl_easy_setopt", curl_easy_setopt},
      {"curl_easy_perform", curl_easy_perform},
      {"curl_easy_reset", curl_easy_reset},
      {"curl_easy_duphandle", curl_easy_duphandle},
      {"curl_easy_cleanup", curl_easy_cleanup},
      {"curl_multi_add_handle", curl_multi_add_handle},
      {"curl_multi_remove_handle", curl_multi_remove_handle},
      {"curl_multi_info_read", curl_multi_info_read},
      {"curl_multi_cleanup", curl_multi_cleanup},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++)
    if (strcmp(functions[index].name, name) == 0) return functions[index].function;
  return NULL;
}
