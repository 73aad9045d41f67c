/// The host's table `sluice.want-body/1`: asks for the body of one transaction.
///
/// A draft: the table may still change. `wants` of an interceptor asks for the bodies of all transactions that the
/// interceptor is called for. This function asks for the bodies of one transaction, so that the bodies of all others
/// can stream.
#ifndef SLUICE_DRAFT_WANT_BODY_H
#define SLUICE_DRAFT_WANT_BODY_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/status.h>

#define SLUICE_WANT_BODY_ID "sluice.want-body/1"

typedef struct sluice_want_body {
  uint32_t size;
  uint32_t reserved;
  /// Asks in on_request for a whole body, in memory or in a file.
  ///
  /// With SLUICE_SIDE_RESPONSE, on_response of this stage is called with the whole response body, in this attempt.
  /// With SLUICE_SIDE_REQUEST, the body is often available at once. It is not available yet if it is streamed, or if it
  /// must first pass through `on_chunk` of a stage earlier in the list. In these two cases, if on_request answers
  /// SLUICE_VERDICT_CONTINUE, on_request is called again when the whole body has arrived. Returns SLUICE_STATUS_REFUSED
  /// outside of on_request. [loop]
  sluice_status (*want_body)(sluice_exchange *exchange, sluice_side side);
} sluice_want_body;
#define SLUICE_WANT_BODY_SIZE_1 16u

#endif
