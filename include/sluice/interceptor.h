/// A stage that may change things: the table `sluice.interceptor/1`.
///
/// Order of one attempt: on_request in the order of the list, on_issue for each hop, then on_response in the order of
/// the list, or on_failure where there is no response. A BLOCKING stage runs its on_request, on_response and on_failure
/// on a pool thread; all else is called on the loop.
#ifndef SLUICE_INTERCEPTOR_H
#define SLUICE_INTERCEPTOR_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/text.h>
#include <sluice/verdict.h>

#define SLUICE_INTERCEPTOR_ID "sluice.interceptor/1"

/// Flags of an interceptor.
enum {
  /// Calls for one instance come one at a time, whatever the loop. With SLUICE_BLOCKING on_issue, `sluice.body/1` and
  /// `sluice.tracer/1` are refused: a loop waits for no call that blocks. on_cancel comes when that has returned.
  SLUICE_SERIAL = 1,
  /// on_request, on_response and on_failure may block: they are called on a thread pool, where [loop] is said of them.
  SLUICE_BLOCKING = 2
};

/// What an interceptor wants to have when it is called.
enum {
  /// The whole request body in memory or a file, even if the caller streams it: a stream is read to its end before this
  /// stage is called, and the body can be sent more than once from then on.
  SLUICE_WANTS_REQUEST_BODY = 1,
  /// The whole response body. If no stage that is called for a transaction wants it, on_response runs when the head has
  /// arrived. `draft/want_body.h` asks for the body of one transaction.
  SLUICE_WANTS_RESPONSE_BODY = 2
};

/// Why there is no response.
typedef struct sluice_failure {
  uint32_t size;
  /// Non-zero where no byte of the request can have reached the server.
  uint32_t is_before_sending;
  /// A word for programs: `dns`, `connect`, `tls`, `timeout`, `connection_lost` …
  sluice_text code;
  sluice_text message;
  /// The stage that failed; empty where it was the transport.
  sluice_text stage;
} sluice_failure;

/// A redirect that is about to be followed.
typedef struct sluice_redirect {
  uint32_t size;
  uint32_t status;
  /// Where it goes, absolute, and the method it would be sent with.
  sluice_text url;
  sluice_text method;
  /// Non-zero where scheme, host or port change.
  uint32_t is_cross_origin;
  uint32_t reserved;
} sluice_redirect;

/// A demand for credentials (RFC 9110 §11).
typedef struct sluice_challenge {
  uint32_t size;
  /// 401 or 407.
  uint32_t status;
  /// `Basic`, `Digest`, `Bearer` …, and the parameters as sent.
  sluice_text scheme;
  sluice_text parameters;
  /// How many challenges this attempt has answered already.
  uint32_t answered;
  uint32_t reserved;
} sluice_challenge;

/// Any function may be NULL.
typedef struct sluice_interceptor {
  uint32_t size;
  uint32_t flags;
  uint32_t wants;
  uint32_t reserved;

  /// Before the request goes out; it may be changed as a whole. [loop]
  sluice_verdict (*on_request)(void *instance, sluice_exchange *exchange);
  /// The last moment before bytes leave, for every hop: request headers only, and they hold for this hop. Answers
  /// SLUICE_CONTINUE or SLUICE_FAIL. [loop]
  sluice_verdict (*on_issue)(void *instance, sluice_exchange *exchange);
  /// SLUICE_CONTINUE follows the redirect, SLUICE_RESPOND takes the redirect itself as the response, SLUICE_FAIL ends
  /// the transaction. May suspend. [loop]
  sluice_verdict (*on_redirect)(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect);
  /// Called for each challenge that the response lists, in order. SLUICE_RESPOND sends again with the credentials
  /// header that the stage has set; SLUICE_CONTINUE leaves it to the next stage, and at the end to the default
  /// handling. May suspend. [loop]
  sluice_verdict (*on_challenge)(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge);
  /// A response is there; its body only for those who want it. [loop]
  sluice_verdict (*on_response)(void *instance, sluice_exchange *exchange);
  /// No response came. SLUICE_CONTINUE leaves the failure as it is, SLUICE_RESPOND, SLUICE_RETRY and SLUICE_FAIL
  /// replace it. [loop]
  sluice_verdict (*on_failure)(void *instance, sluice_exchange *exchange, const sluice_failure *failure);
  /// A suspended call will not be resumed any more: its deadline passed, or the transaction ended. At most once for a
  /// token; resuming it is answered with SLUICE_STALE. [loop]
  void (*on_cancel)(void *instance, sluice_token token);
} sluice_interceptor;

#endif
