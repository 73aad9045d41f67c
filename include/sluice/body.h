/// Bodies as they flow, piece by piece: the table `sluice.body/1` of an interceptor.
///
/// A stage sees every body of the sides that it names, wherever the body came from: the wire, another stage, memory or
/// a file. It sees a body once in each attempt, and a request body again in each hop that sends it; `context` says
/// which attempt and hop. If a stage further down the list wants the whole body, that stage gets the body as the stages
/// before it have changed it. on_end is not called for a body that breaks off. So data that the stage keeps for a body
/// must be released by the `release` function that it passes to `data_set`.
#ifndef SLUICE_BODY_H
#define SLUICE_BODY_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/text.h>

#define SLUICE_BODY_ID "sluice.body/1"

/// What the stage has done with a piece.
typedef int32_t sluice_body_verdict;
enum {
  /// Passed on unchanged.
  SLUICE_BODY_VERDICT_PASS = 0,
  /// Taken: only bytes that were given to `body_write` are passed on.
  SLUICE_BODY_VERDICT_TAKEN = 1,
  /// Taken, and no further piece comes until the token from `suspend` is resumed with SLUICE_VERDICT_CONTINUE or
  /// SLUICE_VERDICT_FAIL. Meanwhile the host reads no more from the socket or the producer. Bytes that were given to
  /// `body_write` are sent on; `body_write` also works inside `enter`. Every stage has its own token, so several stages
  /// may be suspended on one piece.
  SLUICE_BODY_VERDICT_SUSPENDED = 2,
  /// End the transaction with the error set by `fail`.
  SLUICE_BODY_VERDICT_FAIL = 3
};

enum {
  /// Request bodies come through `on_chunk`.
  SLUICE_BODY_SIDE_REQUEST = 1,
  /// Response bodies come through `on_chunk`.
  SLUICE_BODY_SIDE_RESPONSE = 2
};

typedef struct sluice_body {
  uint32_t size;
  /// SLUICE_BODY_SIDE_REQUEST, SLUICE_BODY_SIDE_RESPONSE.
  uint32_t sides;
  /// Called for each piece. Pieces of a request come after on_request of all stages. If a stage wants the whole body,
  /// the pieces come earlier: after on_request of the stages before that stage. Pieces of a response come after
  /// on_response or on_failure. Response bodies are decoded. Request bodies are as the caller gave them: look at
  /// `content-encoding`. Once a stage takes pieces, the announced length is no longer correct; the engine drops it.
  /// [loop]
  sluice_body_verdict (*on_chunk)(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece);
  /// Called after the last piece. This is the last call in which `body_write` and `trailer_add` are allowed. PASS and
  /// TAKEN mean the same here; SUSPENDED delays the end. May be NULL. [loop]
  sluice_body_verdict (*on_end)(void *instance, sluice_exchange *exchange, sluice_side side);
  /// Called before on_end for each trailer field: a field of the server or the caller, or a field that an earlier stage
  /// has added. SLUICE_BODY_VERDICT_TAKEN drops the field, SLUICE_BODY_VERDICT_SUSPENDED is a violation. May be NULL.
  /// [loop]
  sluice_body_verdict (*on_trailer)(
      void *instance, sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value);
} sluice_body;
#define SLUICE_BODY_SIZE_1 32u

#endif
