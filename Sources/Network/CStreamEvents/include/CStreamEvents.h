// Reports what happens to the HTTP/2 streams of libcurl. Libcurl knows the following, but its API does not report it:
// - A request goes out as a stream, so its connection uses HTTP/2.
// - A server has refused a stream, and thus promises that it did not process the request (RFC 9113 §6.8, §8.7). Libcurl
//   sends such a request again by itself.
// - A server has answered in full, and reads no more of the request (RFC 9113 §8.1): libcurl may report this as an
//   error.
// - A server has reset a stream without an error, before the end of its response: libcurl takes this as the end of the
//   response.
// - A server accepts a request only over HTTP/1.1: libcurl sends the request again by itself.
//
// Libcurl gives nghttp2 its callbacks for frames and for the end of a stream. nghttp2's API has functions that set
// these callbacks, and a function that begins a stream. This module defines functions with the same names. The dynamic
// linker finds them before those of nghttp2, and they put callbacks of this module before those of libcurl. If nghttp2
// is linked statically into libcurl, libcurl does not call the functions of this module, and nothing is reported.
#ifndef SLUICE_STREAM_EVENTS_H
#define SLUICE_STREAM_EVENTS_H

typedef enum {
  /// The request goes out as a stream: the connection uses HTTP/2.
  SLUICE_STREAM_BEGUN,
  /// The server has sent everything (END_STREAM).
  SLUICE_STREAM_ENDED,
  /// The server has reset the stream, without an error (NO_ERROR).
  SLUICE_STREAM_RESET,
  /// The stream is closed, and its request was not processed (REFUSED_STREAM).
  SLUICE_STREAM_REFUSED,
  /// The stream is closed: the server accepts its request only over HTTP/1.1 (HTTP_1_1_REQUIRED).
  SLUICE_STREAM_DOWNGRADED,
} sluice_stream_event;

/// Called on the thread that drives the connection, before libcurl learns of the event.
///
/// `easy` is the `CURL *` of the stream, which may belong to other code. Returns nonzero if libcurl must not learn of a
/// reset.
typedef int (*sluice_stream_handler)(const void *easy, sluice_stream_event event);

/// Sets the function for the whole process.
/// - library_function: any function of libcurl; streams of other libraries are not reported. [any]
void sluice_watch_streams(sluice_stream_handler handler, const void *library_function);

#endif
