// What is known about each easy handle of the program: the options that describe its request, and the transfer that
// runs on it. The options are noted because libcurl has no function to read them.
#ifndef SLUICE_ATTACH_HANDLE_H
#define SLUICE_ATTACH_HANDLE_H
#include "libcurl.h"

#include <stddef.h>
#include <stdint.h>

/// Which request libcurl makes, unless CURLOPT_CUSTOMREQUEST names another method.
enum request_kind { REQUEST_GET, REQUEST_HEAD, REQUEST_POST, REQUEST_POST_FORM, REQUEST_PUT };

/// The options of a handle that matter here, as the program has set them.
struct options {
  /// Copies.
  char *url, *custom_method, *user_agent, *cookie, *referer, *range, *encoding, *default_protocol;
  /// The program's object, not a copy. Libcurl prefers it to `url`.
  CURLU *parsed_url;
  /// The value of CURLOPT_PORT; 0 means the port of the URL.
  long port;
  struct curl_slist *headers;
  const void *content;
  /// Our copy of the bytes of CURLOPT_COPYPOSTFIELDS. If it is set, `content` is NULL.
  void *copied_content;
  size_t copied_length;
  /// The length of `content`; -1 if `content` ends with a NUL.
  curl_off_t content_length;
  enum request_kind kind;
  /// The form that is sent with REQUEST_POST_FORM. The program owns it.
  struct curl_httppost *form;
  curl_mime *mime;
  /// Whether CURLOPT_USERPWD and the like are set, so that libcurl adds a header with credentials.
  bool has_user, has_bearer;
  /// CURLOPT_CONNECT_ONLY: libcurl only connects, and the program itself uses the connection.
  bool is_connection_only;
  /// Whether some options are not known, for example because there was no memory for a copy. The request is then not
  /// known.
  bool is_incomplete;
  curl_prereq_callback pre_request;
  void *pre_request_data;
  /// NULL if libcurl uses its default, fwrite.
  curl_write_callback write_function, header_function;
  void *write_data, *header_data;
  /// Without CURLOPT_WRITEDATA, a body goes to standard output.
  bool has_write_data;
  /// CURLOPT_HEADER: heads go to `write_function` as well.
  bool includes_heads;
  bool follows_redirects;
  char *error_buffer;
};

struct transfer;

/// Why libcurl does not have a handle that the program has added to a multi handle.
enum pending_state {
  PENDING_NOT,
  /// A request stage is suspended.
  PENDING_STAGE,
  /// The handle can be added to libcurl as soon as the program is in no callback of libcurl.
  PENDING_CALLBACK,
  /// Libcurl did not accept the handle. The program does not know this yet.
  PENDING_REPORT,
  /// Libcurl did not accept the handle, and the program knows this.
  PENDING_REPORTED,
};

/// An easy handle. One thread at a time uses it, as libcurl demands.
struct handle {
  struct handle *next;
  CURL *easy;
  const struct libcurl *curl;
  struct options options;
  /// The transfer through the pipeline; NULL if there is none.
  struct transfer *transfer;
  /// Whether the handle is inside curl_easy_perform, which adds it to a multi handle of libcurl.
  bool is_performing;
  /// Whether this library is calling a callback of the program.
  bool is_in_callback;
  /// The multi handle to which the program has added it. Atomic because curl_multi_cleanup looks at every handle.
  _Atomic(CURLM *) multi;
  enum pending_state pending;
  struct handle *next_pending;
  /// The time at which the handle became pending, in milliseconds of the monotonic clock.
  int64_t pending_since;
  /// The message that curl_multi_info_read returns in the state PENDING_REPORT.
  CURLMsg message;
};

/// The entry of a handle; NULL if it has none. From any thread.
struct handle *handle_find(CURL *easy);

/// The entry of a handle, which is created if it is missing; NULL if memory ran out.
struct handle *handle_get(CURL *easy, const struct libcurl *curl);

/// Removes and frees the entry.
void handle_forget(CURL *easy);

/// The entry of any handle that was added to the multi handle and for which `holds` returns true; NULL if there is
/// none. Only the thread that uses the multi handle may call this function.
///
/// @param holds NULL to accept every handle
struct handle *handle_find_in(CURLM *multi, bool (*holds)(const struct handle *handle));

/// Called before and after fork(), so that the table is consistent in the child.
void handle_lock_all(void);
void handle_unlock_all(void);

/// Notes an option that libcurl has accepted.
void options_note(struct options *options, CURLoption option, void *value);

/// Forgets the noted options that curl_easy_reset resets.
void options_clear(struct options *options);

/// Copies the options of the handle from which this one was duplicated.
void options_copy(struct options *options, const struct options *from);

#endif
