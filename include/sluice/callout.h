/// Requests that a plugin makes itself: the host's table `sluice.callout/1`.
///
/// They bypass the stages, or a stage that fetches a token would call itself.
#ifndef SLUICE_CALLOUT_H
#define SLUICE_CALLOUT_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/exchange.h>
#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_CALLOUT_ID "sluice.callout/1"

/// Names a call-out; 0 is none.
typedef uint64_t sluice_call;

/// How a call-out ended; valid during the completion.
typedef struct sluice_call_result {
  uint32_t size;
  /// Non-zero where a whole response came, whatever its status.
  uint32_t has_response;
  /// The response document with its body, borrowed; NULL without a response.
  json_t *response;
  /// Empty with a response; else a word for programs, and why in words.
  sluice_text error_code;
  sluice_text error_message;
} sluice_call_result;

typedef struct sluice_call_options {
  uint32_t size;
  uint32_t reserved;
  /// Nanoseconds; 0 takes the host's. Never beyond what is left of `parent`.
  uint64_t timeout;
  /// A longer response is an error; 0 takes the host's limit.
  uint64_t maximum_response_bytes;
  /// The suspended exchange on whose behalf it is made: its deadline bounds the call, its end cancels it. All zero for
  /// none.
  sluice_token parent;
} sluice_call_options;

typedef struct sluice_callout {
  uint32_t size;
  uint32_t reserved;
  /// Sends a request document, which nests at most 2048 levels and is read before `start` returns. Unless `start`
  /// fails, `completion` is called exactly once on a loop, the parent's where there is one, so that `enter` works in
  /// it; on another thread it may run before `start` has returned. SLUICE_REFUSED in a trial, SLUICE_LIMIT when too
  /// many are under way, SLUICE_STALE for a parent that is over. `options` and `call` may be NULL. [any]
  sluice_status (*start)(
      const sluice_host *host, json_t *request, const sluice_call_options *options,
      void (*completion)(void *context, const sluice_call_result *result), void *context, sluice_call *call);
  /// The completion follows with the error `cancelled`; SLUICE_STALE when it has run or is running. What is under way
  /// when the instance ends is cancelled, and every completion has returned before `destroy`. [any]
  sluice_status (*cancel)(const sluice_host *host, sluice_call call);
} sluice_callout;

#endif
