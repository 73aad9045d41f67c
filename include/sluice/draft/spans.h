/// The host's table `sluice.spans/1`: spans that a stage begins below the span of a hop.
///
/// A draft: the table may still change. A span measures a part of what a stage does for one transaction, such as a
/// token refresh. When the span has ended, tracers get the event SLUICE_EVENT_DID_END_SPAN.
#ifndef SLUICE_DRAFT_SPANS_H
#define SLUICE_DRAFT_SPANS_H

#include <stdint.h>

#include <sluice/draft/attribute.h>
#include <sluice/exchange.h>
#include <sluice/status.h>
#include <sluice/text.h>
#include <sluice/tracer.h>

#define SLUICE_SPANS_ID "sluice.spans/1"

/// What the span describes; numbered as in OpenTelemetry's protocol.
typedef uint32_t sluice_span_kind;
enum {
  /// Work inside the program.
  SLUICE_SPAN_INTERNAL = 1,
  /// A request to another service.
  SLUICE_SPAN_CLIENT = 3
};

/// How the work went; numbered as in OpenTelemetry's protocol.
typedef uint32_t sluice_span_status;
enum { SLUICE_SPAN_UNSET = 0, SLUICE_SPAN_OK = 1, SLUICE_SPAN_ERROR = 2 };

/// A span that has not ended. The structure is not a pointer: you may copy it and keep it as long as you like. All zero
/// means no span.
typedef struct sluice_open_span {
  uint32_t slot;
  uint32_t generation;
} sluice_open_span;

/// A span that has ended, in SLUICE_EVENT_DID_END_SPAN.
struct sluice_span {
  uint32_t size;
  sluice_span_kind kind;
  sluice_text name;
  /// In network byte order. `trace_id` is the trace of the hop, or the caller's trace if the hop has none. If the
  /// caller has no trace either, it is the id of the transaction; the built-in stage `headers` begins its traces with
  /// this id.
  uint8_t trace_id[16];
  uint8_t span_id[8];
  /// The span of the hop during which this span began, or the caller's span if this span began before the hop was
  /// issued. Zero if there is no such span.
  uint8_t parent_span_id[8];
  /// On the host's monotonic clock.
  uint64_t start_ns;
  uint64_t end_ns;
  sluice_span_status status;
  /// Non-zero if the host ended the span at the end of the transaction, because the stage had not ended it.
  uint32_t is_unfinished;
  /// Only with SLUICE_SPAN_ERROR.
  sluice_text status_message;
  /// The name of the stage in the configuration.
  sluice_text stage;
  /// In the order in which the names were first set.
  const sluice_attribute *attributes;
  uint32_t attribute_count;
  /// The number of attributes that were refused with SLUICE_STATUS_LIMIT.
  uint32_t dropped_attribute_count;
};
#define SLUICE_SPAN_SIZE_1 128u

/// Each function takes the exchange of the current call, like the functions of `sluice_exchange_api`: in a call of a
/// stage, and inside `enter`. In events they return SLUICE_STATUS_REFUSED. A span belongs to the instance and the
/// transaction that began it. For a span of another instance or transaction, and for a span that has ended, the
/// functions return SLUICE_STATUS_STALE. For a span that is all zero the functions return SLUICE_STATUS_ABSENT and do
/// nothing.
typedef struct sluice_spans {
  uint32_t size;
  uint32_t reserved;
  /// Begins a span with a name of 1 to 128 bytes without control characters. Returns SLUICE_STATUS_ABSENT if no tracer
  /// wants spans, and SLUICE_STATUS_LIMIT if the transaction has already had 64 spans; in both cases `span` is all
  /// zero. [loop]
  sluice_status (*begin)(sluice_exchange *exchange, sluice_text name, sluice_span_kind kind, sluice_open_span *span);
  /// Sets an attribute, or replaces its value. A text is cut off after 1024 bytes. Returns SLUICE_STATUS_LIMIT for the
  /// 33rd name. [loop]
  sluice_status (*set_attribute)(
      sluice_exchange *exchange, sluice_open_span span, const sluice_attribute *attribute);
  /// Sets how the work went. The message is for people, is kept only with SLUICE_SPAN_ERROR, and is cut off after 1024
  /// bytes. [loop]
  sluice_status (*set_status)(
      sluice_exchange *exchange, sluice_open_span span, sluice_span_status status, sluice_text message);
  /// Ends the span. Tracers get it after this call of the stage has returned. [loop]
  sluice_status (*end)(sluice_exchange *exchange, sluice_open_span span);
} sluice_spans;
#define SLUICE_SPANS_SIZE_1 40u

#endif
