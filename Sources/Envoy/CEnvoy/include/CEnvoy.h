// What the module needs of Envoy's dynamic modules, whose ABI differs between versions of Envoy.
//
// Envoy calls the hooks of hooks.c, which call SluiceEnvoyHost. The other functions call Envoy. Each must be called on the worker of the stream, unless it says otherwise. Texts that come from Envoy are borrowed until
// the message is changed or the hook returns.
#ifndef SLUICE_ENVOY_H
#define SLUICE_ENVOY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One stream in Envoy, as the filter of the module sees it.
typedef void *sluice_envoy_filter;
/// Wakes a stream from any thread.
typedef void *sluice_envoy_scheduler;

typedef struct {
  const char *bytes;
  size_t length;
} sluice_envoy_text;

/// A field of a message. It has the layout of Envoy's own structure.
typedef struct {
  sluice_envoy_text name;
  sluice_envoy_text value;
} sluice_envoy_field;

/// A part of a message with fields. The numbers are Envoy's.
enum sluice_envoy_part {
  SLUICE_ENVOY_REQUEST,
  SLUICE_ENVOY_REQUEST_TRAILERS,
  SLUICE_ENVOY_RESPONSE,
  SLUICE_ENVOY_RESPONSE_TRAILERS,
};

/// Where a piece of a body is: the piece with which the hook was called, or what Envoy has buffered before it.
enum sluice_envoy_place { SLUICE_ENVOY_RECEIVED, SLUICE_ENVOY_BUFFERED };

/// What a hook for headers or trailers returns. The numbers are Envoy's.
enum sluice_envoy_headers_status {
  SLUICE_ENVOY_HEADERS_CONTINUE = 0,
  /// The headers wait; hooks for the body are still called.
  SLUICE_ENVOY_HEADERS_STOP = 1,
};

/// What a hook for a body returns. The numbers are Envoy's.
enum sluice_envoy_body_status {
  SLUICE_ENVOY_BODY_CONTINUE = 0,
  /// Envoy buffers the body, and answers for itself if the body is larger than its limit.
  SLUICE_ENVOY_BODY_BUFFER = 1,
  /// Envoy buffers the body, and stops reading at its limit.
  SLUICE_ENVOY_BODY_HOLD = 2,
};

/// Levels of Envoy's log. The numbers are Envoy's.
enum sluice_envoy_level {
  SLUICE_ENVOY_DEBUG = 1,
  SLUICE_ENVOY_INFO = 2,
  SLUICE_ENVOY_WARNING = 3,
  SLUICE_ENVOY_ERROR = 4,
};

/// Attributes of a stream. The numbers are Envoy's.
enum sluice_envoy_attribute {
  /// Unknown until an upstream was chosen.
  SLUICE_ENVOY_UPSTREAM_ADDRESS = 41,
};

/// Whether this Envoy has every function that the module needs. If not, `missing` is the name of one that it lacks. From
/// any thread.
bool sluice_envoy_is_known(const char **missing);

/// What the hook `on_program_init` returns to this Envoy. From any thread.
const char *sluice_envoy_version_mark(void);
/// Whether a response that waits can continue although the request has continued meanwhile. From any thread.
bool sluice_envoy_continues_sides_apart(void);

/// The number of fields.
size_t sluice_envoy_field_count(sluice_envoy_filter, enum sluice_envoy_part);
/// Writes all fields, as many as `sluice_envoy_field_count` said.
bool sluice_envoy_fields(sluice_envoy_filter, enum sluice_envoy_part, sluice_envoy_field *);
/// Replaces all fields of that name by one; removes them if `value.bytes` is NULL.
bool sluice_envoy_set(sluice_envoy_filter, enum sluice_envoy_part, sluice_envoy_text name, sluice_envoy_text value);
/// Adds a field; false if this Envoy cannot do that.
bool sluice_envoy_add(sluice_envoy_filter, enum sluice_envoy_part, sluice_envoy_text name, sluice_envoy_text value);

/// The number of contiguous pieces.
size_t sluice_envoy_body_count(sluice_envoy_filter, bool is_request, enum sluice_envoy_place);
/// Writes all pieces, as many as `sluice_envoy_body_count` said.
bool sluice_envoy_body(sluice_envoy_filter, bool is_request, enum sluice_envoy_place, sluice_envoy_text *);
/// Removes bytes from the beginning.
bool sluice_envoy_drain(sluice_envoy_filter, bool is_request, enum sluice_envoy_place, size_t bytes);
/// Adds bytes, which are copied, at the end.
bool sluice_envoy_append(sluice_envoy_filter, bool is_request, enum sluice_envoy_place, sluice_envoy_text);
/// The bytes that Envoy buffers at most; 0 if this Envoy does not say.
uint64_t sluice_envoy_buffer_limit(sluice_envoy_filter);

/// Answers instead of the upstream.
void sluice_envoy_reply(sluice_envoy_filter, uint32_t status, sluice_envoy_field *, size_t count, sluice_envoy_text body,
                        sluice_envoy_text details);
/// Continues after a hook has stopped the request or the response.
void sluice_envoy_continue(sluice_envoy_filter, bool is_request);

/// Makes a scheduler for a stream; NULL if this fails.
sluice_envoy_scheduler sluice_envoy_scheduler_new(sluice_envoy_filter);
/// Calls the hook `scheduled` soon, on the worker of the stream, unless the stream has ended. From any thread.
void sluice_envoy_scheduler_commit(sluice_envoy_scheduler);
/// Deletes a scheduler, on any thread.
void sluice_envoy_scheduler_delete(sluice_envoy_scheduler);

/// Notes a text for the upstream filters of this stream.
void sluice_envoy_note(sluice_envoy_filter, sluice_envoy_text key, sluice_envoy_text value);
/// Reads a text that was noted.
bool sluice_envoy_noted(sluice_envoy_filter, sluice_envoy_text key, sluice_envoy_text *value);
/// Reads an attribute of the stream.
bool sluice_envoy_attribute(sluice_envoy_filter, enum sluice_envoy_attribute, sluice_envoy_text *value);

/// Makes a counter or a gauge while a configuration is opened. Returns whether `id` was set.
bool sluice_envoy_define(void *envoy, bool is_counter, sluice_envoy_text name, size_t *id);
/// Adds to a counter, or sets a gauge.
void sluice_envoy_count(sluice_envoy_filter, size_t counter, uint64_t value);
void sluice_envoy_measure(sluice_envoy_filter, size_t gauge, uint64_t value);

/// Writes a line to Envoy's log. From any thread.
void sluice_envoy_log(enum sluice_envoy_level, sluice_envoy_text);

/// A number for the calling thread: 0 for the first thread that asked, 1 for the next one.
size_t sluice_envoy_thread_number(void);

// MARK: Hooks, implemented by SluiceEnvoyHost

/// A configuration of the filter was read. NULL refuses it.
/// - envoy: what `sluice_envoy_define` takes, until this returns.
const void *sluice_envoy_host_open(void *envoy, sluice_envoy_text filter_name, sluice_envoy_text configuration);
/// The configuration is no longer used.
void sluice_envoy_host_close(const void *configuration);
/// A stream begins. The result is what the other functions get as `stream`.
const void *sluice_envoy_host_begin(const void *configuration, sluice_envoy_filter);
/// A stream has ended, and its filter is about to be destroyed.
void sluice_envoy_host_complete(const void *stream);
/// The filter of a stream was destroyed. It is not called again.
void sluice_envoy_host_end(const void *stream);
/// A head has arrived.
enum sluice_envoy_headers_status sluice_envoy_host_headers(const void *stream, bool is_request, bool is_last);
/// A piece of a body has arrived.
enum sluice_envoy_body_status sluice_envoy_host_body(const void *stream, bool is_request, bool is_last);
/// Trailers have arrived.
enum sluice_envoy_headers_status sluice_envoy_host_trailers(const void *stream, bool is_request);
/// A commit of a scheduler has arrived.
void sluice_envoy_host_scheduled(const void *stream);

#ifdef __cplusplus
}
#endif
#endif
