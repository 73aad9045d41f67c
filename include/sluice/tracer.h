/// A stage that only watches: the table `sluice.tracer/1`.
#ifndef SLUICE_TRACER_H
#define SLUICE_TRACER_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/text.h>

#define SLUICE_TRACER_ID "sluice.tracer/1"

/// The events of one transaction come in order, from one thread at a time. Every WILL_EXECUTE is balanced by one
/// DID_COMPLETE; DID_ISSUE always precedes its DID_RECEIVE, and may lack one.
typedef uint32_t sluice_event_kind;
enum {
  SLUICE_WILL_EXECUTE = 1,
  SLUICE_DID_CONFIGURE = 2,
  SLUICE_DID_ISSUE = 3,
  SLUICE_DID_RECEIVE = 4,
  SLUICE_DID_VALIDATE_RESPONSE = 5,
  SLUICE_DID_EXTRACT = 6,
  SLUICE_DID_VALIDATE_PAYLOAD = 7,
  SLUICE_DID_COMPLETE = 8,
  /// An informational response; `status` says which.
  SLUICE_DID_RECEIVE_INFORMATIONAL = 9,
  /// Another attempt follows after `delay`.
  SLUICE_WILL_RETRY = 10,
  SLUICE_WILL_REDIRECT = 11
};

/// How a transaction ended; PENDING in every event but DID_COMPLETE.
typedef uint32_t sluice_outcome;
enum { SLUICE_PENDING = 0, SLUICE_SUCCEEDED = 1, SLUICE_FAILED_OUTCOME = 2, SLUICE_CANCELLED = 3 };

/// Where the time of a hop went, in nanoseconds; a phase that did not happen is 0.
typedef struct sluice_timings {
  uint32_t size;
  uint32_t is_connection_reused;
  uint64_t queue, name_lookup, connect, tls_handshake, send, wait, receive;
  uint64_t bytes_sent, bytes_received;
} sluice_timings;

typedef struct sluice_event {
  uint32_t size;
  sluice_event_kind kind;
  /// Nanoseconds on the host's monotonic clock.
  uint64_t time;
  uint8_t transaction_id[16];
  uint32_t attempt;
  uint32_t hop;
  /// The response's status, 0 without one.
  uint32_t status;
  /// Only in DID_COMPLETE.
  sluice_outcome outcome;
  /// The error in DID_COMPLETE and the reason in WILL_RETRY; empty elsewhere. `error_stage` names the stage at fault.
  sluice_text error_code;
  sluice_text error_message;
  sluice_text error_stage;
  /// Nanoseconds: the delay in WILL_RETRY, the whole duration in DID_COMPLETE.
  uint64_t duration;
  /// For reading with the functions of an exchange; writing is refused. NULL where delivery is queued.
  sluice_exchange *exchange;
  /// In DID_RECEIVE and DID_COMPLETE; else NULL.
  const sluice_timings *timings;
  /// The request as it is at this moment, redirects followed, for tracers that have no exchange. Queued delivery cuts
  /// off what is longer than the host's bound.
  sluice_text request_id;
  sluice_text method;
  sluice_text url;
} sluice_event;

typedef struct sluice_tracer {
  uint32_t size;
  uint32_t reserved;
  /// Counted against the tracer's time budget; unknown kinds are to be ignored. Queued delivery calls it on a thread of
  /// the tracer's own, one event at a time. Everything that `event` points to is borrowed. [loop]
  void (*on_event)(void *instance, const sluice_event *event);
} sluice_tracer;

#endif
