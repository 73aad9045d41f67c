/// The facts of a transaction that do not change during a call.
#ifndef SLUICE_CONTEXT_H
#define SLUICE_CONTEXT_H

#include <stdint.h>

#include <sluice/text.h>
#include <sluice/token.h>

/// Filled by `exchange->context`; the caller sets `size` to what it knows, and what the host does not know of that
/// becomes zero. Texts are borrowed until the call returns.
typedef struct sluice_context {
  uint32_t size;
  /// 0 first, then one more for each retry.
  uint32_t attempt;
  /// Request on the wire within the attempt, 0 first; a redirect or challenge makes another.
  uint32_t hop;
  /// Which loop the transaction lives on.
  sluice_loop loop;
  /// The UUID of the transaction in network byte order.
  uint8_t transaction_id[16];
  /// The same over all attempts, and what the request id header carries.
  sluice_text request_id;
  sluice_text method;
  /// The path of the request's URL, percent-encoded, without the query.
  sluice_text path;
  /// Nanoseconds since the transaction began.
  uint64_t elapsed;
  /// Nanoseconds that are left until the transaction's deadline; UINT64_MAX without one.
  uint64_t remaining;
  /// The caller's W3C trace context, empty where it has none: `traceparent`, `tracestate`, `baggage` as header values.
  sluice_text parent_traceparent;
  sluice_text parent_tracestate;
  sluice_text parent_baggage;
} sluice_context;

#endif
