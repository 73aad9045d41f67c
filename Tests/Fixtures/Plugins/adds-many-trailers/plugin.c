// Adds COUNT trailers with values of SIZE bytes to both bodies. Tells how many were added, and the answer to the last.
#include "../stage.h"

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)instance, (void)exchange, (void)side, (void)piece;
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
  static char value[SIZE + 1];
  memset(value, 'v', SIZE);
  long added = 0, answer = 0;
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "x-%d", i);
    answer = api_of(instance)->trailer_add(exchange, side, text(name), text(value));
    if (answer == SLUICE_STATUS_OK) added++;
  }
  tell(instance, side == SLUICE_SIDE_REQUEST ? "request-added" : "response-added", added);
  tell(instance, side == SLUICE_SIDE_REQUEST ? "request-answer" : "response-answer", answer);
  return SLUICE_BODY_VERDICT_PASS;
}

static const sluice_body table =
    SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_REQUEST | SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk,
                 .on_end = on_end);
SLUICE_REQUIRES(streamed_body);
STAGE_PLUGIN(SLUICE_BODY_ID, table);
