/// The host's table `sluice.response-stream/1`: a stage gives the body of its own response piece by piece.
///
/// A draft: the table may still change.
#ifndef SLUICE_DRAFT_RESPONSE_STREAM_H
#define SLUICE_DRAFT_RESPONSE_STREAM_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_RESPONSE_STREAM_ID "sluice.response-stream/1"

/// The id of a stream, which is never reused; 0 means no stream.
typedef uint64_t sluice_stream;

typedef uint32_t sluice_stream_event;
enum {
  /// The stream takes bytes again, after `write` had returned SLUICE_STATUS_LIMIT.
  SLUICE_STREAM_WRITABLE = 1,
  /// The stream is closed: the body has ended or failed, or the transaction is over. The host takes no more bytes and
  /// calls nothing more. This event comes exactly once for each stream that was opened, before the instance's
  /// `destroy`.
  SLUICE_STREAM_CLOSED = 2
};

typedef struct sluice_response_stream {
  uint32_t size;
  uint32_t reserved;
  /// Opens a stream for the body of the response that `respond` has set, or that on_response may change. Add the bytes
  /// with `write`. Opening a stream does not change what the call must return: after `respond`, that is
  /// SLUICE_VERDICT_RESPOND. A response stage that wants the whole body is called after `end`; other response stages
  /// are called when the head is known. The transaction's deadline bounds the whole body.
  ///
  /// `length` is the number of bytes that will follow, UINT64_MAX if it is not known; a body of another length fails
  /// the transaction. A `Content-Length` that the response has is adjusted or removed. `on_event` is called on the
  /// transaction's loop, outside of `write`, `end` and `fail`. Returns SLUICE_STATUS_REFUSED if there is no response
  /// that this call may change, and in a BLOCKING call. [loop]
  sluice_status (*open)(
      sluice_exchange *exchange, uint64_t length, void (*on_event)(void *context, sluice_stream_event event),
      void *context, sluice_stream *stream);
  /// Adds a copy of the bytes, at most 1 MiB of them. Returns SLUICE_STATUS_LIMIT while 256 KiB wait to be taken: then
  /// nothing was added, and SLUICE_STREAM_WRITABLE follows. Returns SLUICE_STATUS_STALE for a stream that is closed.
  /// [any]
  sluice_status (*write)(const sluice_host *host, sluice_stream stream, sluice_bytes bytes);
  /// Ends the body. Returns SLUICE_STATUS_STALE for a stream that is closed or was already ended. [any]
  sluice_status (*end)(const sluice_host *host, sluice_stream stream);
  /// Ends the transaction with an error, as `fail` of an exchange does. Returns SLUICE_STATUS_STALE for a stream that
  /// is closed or was already ended. [any]
  sluice_status (*fail)(const sluice_host *host, sluice_stream stream, sluice_text code, sluice_text message);
} sluice_response_stream;
#define SLUICE_RESPONSE_STREAM_SIZE_1 40u

#endif
