// Tells which HTTP/2 streams a server has refused: it vouches that it did not process their requests (RFC 9113 §6.8, §8.7).
// Libcurl knows, sends such a request again by itself, and tells nobody.
//
// Libcurl has nghttp2 call a function of libcurl's when a stream ends. This module defines the function of nghttp2's API that
// sets it, which the dynamic linker finds before nghttp2's own, and puts another one in front. Where the linker does not find it,
// as with a libcurl that has nghttp2 inside, no stream is reported.
#ifndef SLUICE_REFUSED_STREAMS_H
#define SLUICE_REFUSED_STREAMS_H

/// Called where a stream has ended as refused, on the thread that drives the connection, before libcurl learns of it.
///
/// `easy` is the `CURL *` of the stream, which may be somebody else's.
typedef void (*sluice_refused_stream_handler)(const void *easy);

/// Sets the function for the whole process.
/// - library_function: any function of libcurl; streams of other libraries are not reported. [any]
void sluice_watch_refused_streams(sluice_refused_stream_handler handler, const void *library_function);

#endif
