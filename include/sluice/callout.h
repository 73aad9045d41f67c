/// Requests that a plugin makes itself: the host's table `sluice.callout/1`.
///
/// They run no stages; otherwise a stage that fetches a token would call itself.
#ifndef SLUICE_CALLOUT_H
#define SLUICE_CALLOUT_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/exchange.h>
#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_CALLOUT_ID "sluice.callout/1"

/// The id of a call-out; 0 means no call-out.
typedef uint64_t sluice_call;

/// How a call-out ended. Valid during the completion.
typedef struct sluice_call_result {
  uint32_t size;
  /// Non-zero if a whole response has arrived, whatever its status.
  uint32_t has_response;
  /// The response document with its body, borrowed; NULL without a response.
  json_t *response;
  /// Empty if a response has arrived; otherwise a code for programs, and a message for people.
  sluice_text error_code;
  sluice_text error_message;
} sluice_call_result;
#define SLUICE_CALL_RESULT_SIZE_1 48u

typedef struct sluice_call_options {
  uint32_t size;
  uint32_t reserved;
  /// 0 means the host's timeout. The call never lasts beyond the deadline of `parent`.
  uint64_t timeout_ns;
  /// A longer response is an error; 0 means the host's limit.
  uint64_t maximum_response_bytes;
  /// The suspended exchange for which the call is made: its deadline bounds the call, and its end cancels the call. All
  /// zero means no parent.
  sluice_token parent;
} sluice_call_options;
#define SLUICE_CALL_OPTIONS_SIZE_1 40u

typedef struct sluice_callout {
  uint32_t size;
  uint32_t reserved;
  /// Sends a request document, which nests at most 2048 levels and is read before `start` returns. Unless `start`
  /// fails, `completion` is called exactly once on a loop: with a parent, on the parent's loop, so that `enter` works
  /// in it. If `start` was called on another thread, the completion may run before `start` has returned. Returns
  /// SLUICE_STATUS_REFUSED in a trial, SLUICE_STATUS_LIMIT if too many calls are running, SLUICE_STATUS_STALE for a
  /// parent that is over. `options` and `call` may be NULL. [any]
  sluice_status (*start)(
      const sluice_host *host, json_t *request, const sluice_call_options *options,
      void (*completion)(void *context, const sluice_call_result *result), void *context, sluice_call *call);
  /// Cancels a call; its completion follows with the error `cancelled`. Returns SLUICE_STATUS_STALE if the completion
  /// has run or is running. When `deactivate` has returned, the host cancels the instance's calls. Every completion has
  /// returned before `destroy`. [any]
  sluice_status (*cancel)(const sluice_host *host, sluice_call call);
} sluice_callout;
#define SLUICE_CALLOUT_SIZE_1 24u

#endif
