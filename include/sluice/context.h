/// The facts of a transaction that do not change during a call.
#ifndef SLUICE_CONTEXT_H
#define SLUICE_CONTEXT_H

#include <stdint.h>

#include <sluice/text.h>
#include <sluice/token.h>

/// Filled by `exchange->context`. The caller sets `size` to the size that it knows; members that the host does not know
/// become zero. Texts are borrowed until the call returns.
typedef struct sluice_context {
  uint32_t size;
  /// The number of the attempt, counted from 0; each retry adds one.
  uint32_t attempt;
  /// The number of the hop within the attempt, counted from 0; a redirect or an answered challenge adds one.
  uint32_t hop;
  /// The loop of the transaction.
  sluice_loop loop;
  /// The UUID of the transaction in network byte order.
  uint8_t transaction_id[16];
  /// The value of the request id header; the same in all attempts.
  sluice_text request_id;
  sluice_text method;
  /// The path of the request's URL, percent-encoded, without the query. From on_issue on, that of the hop.
  sluice_text path;
  /// Nanoseconds since the transaction began.
  uint64_t elapsed_ns;
  /// Nanoseconds until the transaction's deadline; UINT64_MAX without a deadline.
  uint64_t remaining_ns;
  /// The caller's W3C trace context, empty without one: `traceparent`, `tracestate`, `baggage` as header values.
  sluice_text parent_traceparent;
  sluice_text parent_tracestate;
  sluice_text parent_baggage;
} sluice_context;
#define SLUICE_CONTEXT_SIZE_1 144u

#endif
