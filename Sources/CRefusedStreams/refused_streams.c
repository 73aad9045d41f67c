#define _GNU_SOURCE
#include "CRefusedStreams.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// As nghttp2 declares them: its headers are not needed for building.
typedef struct nghttp2_session nghttp2_session;
typedef struct nghttp2_session_callbacks nghttp2_session_callbacks;
typedef int (*stream_close_callback)(nghttp2_session *session, int32_t stream, uint32_t error, void *context);
typedef void (*set_stream_close_callback)(nghttp2_session_callbacks *callbacks, stream_close_callback callback);
typedef void *(*get_stream_owner)(nghttp2_session *session, int32_t stream);

#define REFUSED_STREAM 7

static _Atomic(sluice_refused_stream_handler) watcher;
static _Atomic(const void *) libcurl;
static _Atomic(get_stream_owner) owner_of;
/// Libcurl's own function, the same for all its sessions.
static _Atomic(stream_close_callback) original;

void sluice_watch_refused_streams(sluice_refused_stream_handler handler, const void *library_function) {
  Dl_info library;
  atomic_store(&watcher, handler);
  if (dladdr(library_function, &library)) atomic_store(&libcurl, library.dli_fbase);
}

static int stream_closed(nghttp2_session *session, int32_t stream, uint32_t error, void *context) {
  const sluice_refused_stream_handler handler = atomic_load(&watcher);
  const get_stream_owner owner = atomic_load(&owner_of);
  if (error == REFUSED_STREAM && handler && owner) {
    const void *easy = owner(session, stream);
    if (easy) handler(easy);
  }
  return atomic_load(&original)(session, stream, error, context);
}

/// Takes the place of nghttp2's function of this name.
__attribute__((visibility("default"))) void nghttp2_session_callbacks_set_on_stream_close_callback(
    nghttp2_session_callbacks *callbacks, stream_close_callback callback);

void nghttp2_session_callbacks_set_on_stream_close_callback(
    nghttp2_session_callbacks *callbacks, stream_close_callback callback) {
  const set_stream_close_callback set =
      (set_stream_close_callback)dlsym(RTLD_NEXT, "nghttp2_session_callbacks_set_on_stream_close_callback");
  if (!set) return;
  Dl_info caller;
  const int is_libcurl =
      callback && dladdr(__builtin_return_address(0), &caller) && caller.dli_fbase == atomic_load(&libcurl);
  if (!is_libcurl) {
    set(callbacks, callback);
    return;
  }
  atomic_store(&original, callback);
  atomic_store(&owner_of, (get_stream_owner)dlsym(RTLD_NEXT, "nghttp2_session_get_stream_user_data"));
  set(callbacks, stream_closed);
}
