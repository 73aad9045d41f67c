/// A stage that may change requests and responses: the table `sluice.interceptor/1`.
///
/// In one attempt, the host calls on_request of the stages in the order of the list, then on_issue for each hop, then
/// on_response in the order of the list. If there is no response, it calls on_failure instead of on_response. A
/// BLOCKING stage runs its on_request, on_response and on_failure on a pool thread; all other functions are called on
/// the loop.
#ifndef SLUICE_INTERCEPTOR_H
#define SLUICE_INTERCEPTOR_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/text.h>
#include <sluice/verdict.h>

#define SLUICE_INTERCEPTOR_ID "sluice.interceptor/1"

/// Flags of an interceptor.
enum {
  /// Calls for one instance come one at a time, on any loop. A plugin that is also SLUICE_FLAG_BLOCKING must not have
  /// on_issue, `sluice.body/1` or `sluice.tracer/1`, because a loop never waits for a blocking call. on_cancel is
  /// called after the blocking call has returned.
  SLUICE_FLAG_SERIAL = 1,
  /// on_request, on_response and on_failure may block: they are called on a thread pool, although they are tagged
  /// [loop].
  SLUICE_FLAG_BLOCKING = 2
};

/// The bodies that an interceptor wants when it is called.
enum {
  /// The whole request body in memory or a file, even if the caller streams it: a stream is read to its end before this
  /// stage is called, and from then on the body can be sent more than once. Only a stage in the list "request" gets it: a
  /// stage that needs the body in on_issue has an on_request too, which can be empty, and is in both lists.
  SLUICE_WANTS_REQUEST_BODY = 1,
  /// The whole response body. If no stage that is called for a transaction wants the whole body, on_response runs when
  /// the head has arrived. To ask for the body of a single transaction, use `draft/want_body.h`.
  SLUICE_WANTS_RESPONSE_BODY = 2
};

/// Why there is no response.
typedef struct sluice_failure {
  uint32_t size;
  /// Non-zero if the server cannot have received any byte of the request.
  uint32_t is_before_sending;
  /// A code for programs: `dns`, `connect`, `tls`, `timeout`, `connection_lost` …
  sluice_text code;
  sluice_text message;
  /// The stage that failed; empty if the transport failed.
  sluice_text stage;
} sluice_failure;
#define SLUICE_FAILURE_SIZE_1 56u

/// A redirect that is about to be followed.
typedef struct sluice_redirect {
  uint32_t size;
  uint32_t status;
  /// The target as an absolute URL, and the method of the next request.
  sluice_text url;
  sluice_text method;
  /// Non-zero if scheme, host or port change.
  uint32_t is_cross_origin;
  /// Non-zero if the redirect keeps the body: if this request has a body, the next request sends it again.
  uint32_t keeps_body;
} sluice_redirect;
#define SLUICE_REDIRECT_SIZE_1 48u

/// A demand of a server or proxy for credentials (RFC 9110 §11).
typedef struct sluice_challenge {
  uint32_t size;
  /// 401 or 407.
  uint32_t status;
  /// The scheme, such as `Basic`, `Digest` or `Bearer`, and the parameters as the server or proxy sent them.
  sluice_text scheme;
  sluice_text parameters;
  /// The number of challenges that this attempt has already answered.
  uint32_t answered;
  uint32_t reserved;
} sluice_challenge;
#define SLUICE_CHALLENGE_SIZE_1 48u

/// An informational response (RFC 9110 §15.2).
typedef struct sluice_informational {
  uint32_t size;
  /// 100–199, not 101.
  uint32_t status;
  /// `field_count` fields in wire order.
  const sluice_field *fields;
  size_t field_count;
} sluice_informational;
#define SLUICE_INFORMATIONAL_SIZE_1 24u

/// Any function may be NULL.
typedef struct sluice_interceptor {
  uint32_t size;
  uint32_t flags;
  uint32_t wants;
  uint32_t reserved;

  /// Called before the request is sent; every part of the request may be changed. [loop]
  sluice_verdict (*on_request)(void *instance, sluice_exchange *exchange);
  /// Called at the last moment before a hop is sent: only request headers may be changed, and only for this hop. The
  /// answer is SLUICE_VERDICT_CONTINUE or SLUICE_VERDICT_FAIL. [loop]
  sluice_verdict (*on_issue)(void *instance, sluice_exchange *exchange);
  /// Called before a redirect is followed. SLUICE_VERDICT_CONTINUE follows the redirect, SLUICE_VERDICT_RESPOND makes
  /// the redirect itself the response, SLUICE_VERDICT_FAIL ends the transaction. May suspend. [loop]
  sluice_verdict (*on_redirect)(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect);
  /// Called for each challenge that the response lists, in order. SLUICE_VERDICT_RESPOND sends again with the
  /// credentials header that the stage has set; SLUICE_VERDICT_CONTINUE leaves the challenge to the next stage, and
  /// after the last stage to the default handling. May suspend. [loop]
  sluice_verdict (*on_challenge)(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge);
  /// Called when a response has arrived; its body is available only to stages that want it. [loop]
  sluice_verdict (*on_response)(void *instance, sluice_exchange *exchange);
  /// Called when the attempt has failed without a response. SLUICE_VERDICT_CONTINUE keeps the failure;
  /// SLUICE_VERDICT_RESPOND, SLUICE_VERDICT_RETRY and SLUICE_VERDICT_FAIL replace it. [loop]
  sluice_verdict (*on_failure)(void *instance, sluice_exchange *exchange, const sluice_failure *failure);
  /// Called when a suspended call can no longer be resumed, because its deadline has passed or the transaction has
  /// ended. Called at most once for a token; resuming the token returns SLUICE_STATUS_STALE. [loop]
  void (*on_cancel)(void *instance, sluice_token token);
  /// Called for each informational (1xx) response to the current hop, before the final response: once for each stage of
  /// the response list, BLOCKING stages included. The fields are not part of the exchange. [loop]
  void (*on_informational)(void *instance, sluice_exchange *exchange, const sluice_informational *response);
} sluice_interceptor;
#define SLUICE_INTERCEPTOR_SIZE_1 80u

#endif
