/// A body for one transaction: the host's table `sluice.want-body/1`.
///
/// A draft: the table may still change. `wants` of an interceptor asks for every body of the transactions that it is called
/// for; this function asks for those of one transaction, so that all others stream.
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
  /// SLUICE_RESPONSE: on_response of this stage is called with the whole response body, in this attempt.
  /// SLUICE_REQUEST: where the request body is streamed, or has to go through `on_chunk` of a stage further up first, and
  /// on_request answers SLUICE_CONTINUE, on_request is called once more when the body is whole; otherwise it is there
  /// already. SLUICE_REFUSED outside of on_request. [loop]
  sluice_status (*want_body)(sluice_exchange *exchange, sluice_side side);
} sluice_want_body;

#endif
