#define _GNU_SOURCE
#include "CStreamEvents.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// Declared as in nghttp2's headers, so that the build does not need these headers.
typedef struct nghttp2_session nghttp2_session;
typedef struct nghttp2_session_callbacks nghttp2_session_callbacks;
typedef struct {
  size_t length;
  int32_t stream;
  uint8_t type;
  uint8_t flags;
  uint8_t reserved;
} frame_head;
/// The header of every frame.
typedef struct {
  frame_head head;
} frame;
typedef struct {
  frame_head head;
  uint32_t error;
} reset_frame;
typedef int (*stream_close_callback)(nghttp2_session *session, int32_t stream, uint32_t error, void *context);
typedef int (*frame_callback)(nghttp2_session *session, const frame *frame, void *context);
typedef void *(*get_stream_owner)(nghttp2_session *session, int32_t stream);
typedef int32_t (*submitter)(
    nghttp2_session *session, const void *priority, const void *fields, size_t count, const void *body, void *owner);

enum { NO_ERROR = 0, REFUSED_STREAM = 7, HTTP_1_1_REQUIRED = 13 };
enum { DATA = 0, HEADERS = 1, RST_STREAM = 3 };
enum { END_STREAM = 1 };
/// NGHTTP2_ERR_FATAL.
enum { FATAL = -900 };

static _Atomic(sluice_stream_handler) watcher;
static _Atomic(const void *) libcurl;
static _Atomic(get_stream_owner) owner_of;
// Libcurl's own callbacks, which are the same for all its sessions.
static _Atomic(stream_close_callback) libcurl_closed;
static _Atomic(frame_callback) libcurl_received;
static _Atomic(submitter) original_submit;

void sluice_watch_streams(sluice_stream_handler handler, const void *library_function) {
  Dl_info library;
  atomic_store(&watcher, handler);
  if (dladdr(library_function, &library)) atomic_store(&libcurl, library.dli_fbase);
}

static int tell(nghttp2_session *session, int32_t stream, sluice_stream_event event) {
  const sluice_stream_handler handler = atomic_load(&watcher);
  const get_stream_owner owner = atomic_load(&owner_of);
  const void *easy = handler && owner ? owner(session, stream) : NULL;
  return easy ? handler(easy, event) : 0;
}

static int stream_closed(nghttp2_session *session, int32_t stream, uint32_t error, void *context) {
  if (error == REFUSED_STREAM) tell(session, stream, SLUICE_STREAM_REFUSED);
  if (error == HTTP_1_1_REQUIRED) tell(session, stream, SLUICE_STREAM_DOWNGRADED);
  return atomic_load(&libcurl_closed)(session, stream, error, context);
}

static int frame_received(nghttp2_session *session, const frame *frame, void *context) {
  const frame_head head = frame->head;
  if ((head.type == DATA || head.type == HEADERS) && head.flags & END_STREAM) {
    tell(session, head.stream, SLUICE_STREAM_ENDED);
  } else if (head.type == RST_STREAM && ((const reset_frame *)frame)->error == NO_ERROR) {
    if (tell(session, head.stream, SLUICE_STREAM_RESET)) return 0;
  }
  return atomic_load(&libcurl_received)(session, frame, context);
}

/// Whether libcurl is the caller that sets this callback. If so, finds the function that names the owner of a stream.
static int is_libcurl(const void *function, const void *return_address) {
  Dl_info caller;
  if (!function || !dladdr(return_address, &caller) || caller.dli_fbase != atomic_load(&libcurl)) return 0;
  atomic_store(&owner_of, (get_stream_owner)dlsym(RTLD_NEXT, "nghttp2_session_get_stream_user_data"));
  return 1;
}

// These functions take the place of nghttp2's functions with the same names.
#define EXPORTED __attribute__((visibility("default")))
EXPORTED void nghttp2_session_callbacks_set_on_stream_close_callback(
    nghttp2_session_callbacks *callbacks, stream_close_callback callback);
EXPORTED void nghttp2_session_callbacks_set_on_frame_recv_callback(
    nghttp2_session_callbacks *callbacks, frame_callback callback);

EXPORTED int32_t nghttp2_submit_request(
    nghttp2_session *session, const void *priority, const void *fields, size_t count, const void *body, void *owner);

// Called for every request, so the original function is looked up only once.
int32_t nghttp2_submit_request(
    nghttp2_session *session, const void *priority, const void *fields, size_t count, const void *body, void *owner) {
  submitter submit = atomic_load(&original_submit);
  if (!submit) {
    submit = (submitter)dlsym(RTLD_NEXT, "nghttp2_submit_request");
    if (!submit) return FATAL;
    atomic_store(&original_submit, submit);
  }
  const int32_t stream = submit(session, priority, fields, count, body, owner);
  const sluice_stream_handler handler = atomic_load(&watcher);
  // `owner` can belong to code other than libcurl. The handler must recognize its own handles.
  if (stream >= 0 && handler && owner) handler(owner, SLUICE_STREAM_BEGUN);
  return stream;
}

void nghttp2_session_callbacks_set_on_stream_close_callback(
    nghttp2_session_callbacks *callbacks, stream_close_callback callback) {
  typedef void (*setter)(nghttp2_session_callbacks *callbacks, stream_close_callback callback);
  const setter set = (setter)dlsym(RTLD_NEXT, "nghttp2_session_callbacks_set_on_stream_close_callback");
  if (!set) return;
  if (is_libcurl((const void *)callback, __builtin_return_address(0))) {
    atomic_store(&libcurl_closed, callback);
    callback = stream_closed;
  }
  set(callbacks, callback);
}

void nghttp2_session_callbacks_set_on_frame_recv_callback(
    nghttp2_session_callbacks *callbacks, frame_callback callback) {
  typedef void (*setter)(nghttp2_session_callbacks *callbacks, frame_callback callback);
  const setter set = (setter)dlsym(RTLD_NEXT, "nghttp2_session_callbacks_set_on_frame_recv_callback");
  if (!set) return;
  if (is_libcurl((const void *)callback, __builtin_return_address(0))) {
    atomic_store(&libcurl_received, callback);
    callback = frame_received;
  }
  set(callbacks, callback);
}
