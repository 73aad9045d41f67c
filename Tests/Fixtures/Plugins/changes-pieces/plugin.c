// Turns each piece to upper case, and adds a piece at the end. It suspends on a piece that begins with '!', and a
// posted function writes the replacement.
#include <ctype.h>

#include "../stage.h"

struct work {
  void *instance;
  sluice_token token;
};

static void go_on(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  sluice_exchange *exchange = host->enter(host, work->token);
  tell(work->instance, "late", host->exchange->body_write(exchange, SLUICE_SIDE_RESPONSE, bytes_of("<late>")));
  host->resume(host, work->token, SLUICE_VERDICT_CONTINUE);
  free(work);
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  if (piece.size && piece.data[0] == '!') {
    struct work *work = malloc(sizeof *work);
    work->instance = instance;
    api_of(instance)->suspend(exchange, &work->token);
    host_of(instance)->post(host_of(instance), 0, go_on, work);
    return SLUICE_BODY_VERDICT_SUSPENDED;
  }
  if (piece.size && piece.data[0] == '?') {
    sluice_fail(host_of(instance), exchange, "bad_piece", "a question");
    return SLUICE_BODY_VERDICT_FAIL;
  }
  uint8_t upper[4096];
  for (size_t start = 0; start < piece.size; start += sizeof upper) {
    size_t size = piece.size - start < sizeof upper ? piece.size - start : sizeof upper;
    for (size_t i = 0; i < size; i++) upper[i] = (uint8_t)toupper(piece.data[start + i]);
    api_of(instance)->body_write(exchange, side, (sluice_bytes){upper, size});
  }
  return SLUICE_BODY_VERDICT_TAKEN;
}

static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
  api_of(instance)->body_write(exchange, side, bytes_of("."));
  tell(instance, "trailer", api_of(instance)->trailer_add(exchange, side, text("x-end"), text("yes")));
  return SLUICE_BODY_VERDICT_TAKEN;
}

static sluice_body_verdict on_trailer(
    void *instance, sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  (void)exchange, (void)side, (void)value;
  tell_text(instance, "trailer-name", name);
  return sluice_text_equals(name, "x-drop") ? SLUICE_BODY_VERDICT_TAKEN : SLUICE_BODY_VERDICT_PASS;
}

static const sluice_body table =
    SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk, .on_end = on_end,
                 .on_trailer = on_trailer);

static const void *extension(const char *id) { return strcmp(id, SLUICE_BODY_ID) == 0 ? &table : NULL; }

SLUICE_REQUIRES(streamed_body);
FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
