/// A stage that only observes: the table `sluice.tracer/1`.
#ifndef SLUICE_TRACER_H
#define SLUICE_TRACER_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/text.h>

#define SLUICE_TRACER_ID "sluice.tracer/1"

/// The events of one transaction come in order, from one thread at a time. Every WILL_EXECUTE has one DID_COMPLETE. A
/// DID_RECEIVE always follows its DID_ISSUE; a DID_ISSUE may have no DID_RECEIVE. Every hop that was begun has one
/// DID_END_HOP.
typedef uint32_t sluice_event_kind;
enum {
  SLUICE_EVENT_WILL_EXECUTE = 1,
  SLUICE_EVENT_DID_CONFIGURE = 2,
  SLUICE_EVENT_DID_ISSUE = 3,
  SLUICE_EVENT_DID_RECEIVE = 4,
  SLUICE_EVENT_DID_VALIDATE_RESPONSE = 5,
  SLUICE_EVENT_DID_EXTRACT = 6,
  SLUICE_EVENT_DID_VALIDATE_PAYLOAD = 7,
  SLUICE_EVENT_DID_COMPLETE = 8,
  /// An informational (1xx) response; `status` is its status.
  SLUICE_EVENT_DID_RECEIVE_INFORMATIONAL = 9,
  /// Another attempt follows after `delay`.
  SLUICE_EVENT_WILL_RETRY = 10,
  SLUICE_EVENT_WILL_REDIRECT = 11,
  /// A hop has ended; this event comes even if the connection failed. It comes once for each hop that was begun: after
  /// the DID_RECEIVE of the hop, and before the next hop, WILL_RETRY, validation and DID_COMPLETE. `status` is the
  /// status that the server sent.
  SLUICE_EVENT_DID_END_HOP = 12,
  /// A span that a stage began has ended; `span` describes it. This event comes before the next event of the
  /// transaction.
  SLUICE_EVENT_DID_END_SPAN = 13
};

/// The bit in `interests` that stands for a kind of event.
#define SLUICE_INTEREST(kind) (1u << (kind))

/// How a transaction ended; PENDING in every event except DID_COMPLETE.
typedef uint32_t sluice_outcome;
enum { SLUICE_OUTCOME_PENDING = 0, SLUICE_OUTCOME_SUCCEEDED = 1, SLUICE_OUTCOME_FAILED = 2, SLUICE_OUTCOME_CANCELLED = 3 };

/// The duration of each phase of a hop; 0 for a phase that did not happen. `connect_ns` includes the time that a proxy
/// takes to connect to the server.
typedef struct sluice_timings {
  uint32_t size;
  uint32_t is_connection_reused;
  uint64_t queue_ns, name_lookup_ns, connect_ns, tls_handshake_ns, send_ns, wait_ns, receive_ns;
  uint64_t bytes_sent, bytes_received;
} sluice_timings;
#define SLUICE_TIMINGS_SIZE_1 80u

/// A span that a stage began; see draft/spans.h.
typedef struct sluice_span sluice_span;

/// Facts about the connection of a hop; see draft/connection.h.
typedef struct sluice_connection_facts sluice_connection_facts;

typedef struct sluice_event {
  uint32_t size;
  sluice_event_kind kind;
  /// On the host's monotonic clock.
  uint64_t time_ns;
  uint8_t transaction_id[16];
  /// The place of the current hop in a trace (W3C Trace Context), in network byte order; all zero if unknown.
  /// `trace_id` and `span_id` are the ids that were sent to the server; before DID_ISSUE, or if no `traceparent` was
  /// sent, `span_id` is zero and `trace_id` is the caller's. `parent_span_id` is the caller's span if it is in the same
  /// trace.
  uint8_t trace_id[16];
  uint8_t span_id[8];
  uint8_t parent_span_id[8];
  uint32_t attempt;
  uint32_t hop;
  /// The response's status, 0 without a response.
  uint32_t status;
  /// Only in DID_COMPLETE.
  sluice_outcome outcome;
  /// The flags of the trace, added together: 1 if the trace is sampled, 2 if its id is random.
  uint32_t trace_flags;
  uint32_t reserved;
  /// The error in DID_END_HOP and DID_COMPLETE, and the reason in WILL_RETRY; empty elsewhere. `error_stage` names the
  /// stage at fault.
  sluice_text error_code;
  sluice_text error_message;
  sluice_text error_stage;
  /// The delay in WILL_RETRY, the duration of the hop in DID_END_HOP, the whole duration in DID_COMPLETE.
  uint64_t duration_ns;
  /// Only for reading with the functions of an exchange; writing is refused. NULL with queued delivery.
  sluice_exchange *exchange;
  /// In DID_RECEIVE, DID_END_HOP and DID_COMPLETE; otherwise NULL.
  const sluice_timings *timings;
  /// The id, method and URL of the current request, which redirects can have changed; for tracers that get no exchange.
  /// Queued delivery cuts off texts that are longer than the host's limit.
  sluice_text request_id;
  sluice_text method;
  sluice_text url;
  /// In DID_END_SPAN, otherwise NULL. Defined in draft/spans.h; a draft.
  const sluice_span *span;
  /// In DID_RECEIVE and DID_END_HOP, if the hop had a connection and the host collects such facts; otherwise NULL.
  /// Defined in draft/connection.h; a draft.
  const sluice_connection_facts *connection;
} sluice_event;
#define SLUICE_EVENT_SIZE_1 216u

typedef struct sluice_tracer {
  uint32_t size;
  /// The kinds of events that the tracer gets, as SLUICE_INTEREST bits; 0 means all kinds, including kinds that later
  /// hosts add. Bits that the host does not know are ignored.
  uint32_t interests;
  /// Called for each event, within the tracer's time limit; ignore unknown kinds. Queued delivery calls it on the
  /// tracer's own thread, one event at a time. Everything that `event` points to is borrowed. [loop]
  void (*on_event)(void *instance, const sluice_event *event);
} sluice_tracer;
#define SLUICE_TRACER_SIZE_1 16u

#endif
