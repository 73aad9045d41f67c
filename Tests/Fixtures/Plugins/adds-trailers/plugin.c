// Adds trailers to a request: `x-sum` at the end of the body and, if the request has the header `x-suspends`, `x-late`
// from a posted function. For each piece, tries to add fields that are not allowed. Drops the trailer `x-drop`.
#include "../stage.h"

static sluice_status add(void *instance, sluice_exchange *exchange, const char *name, const char *value) {
  return api_of(instance)->trailer_add(exchange, SLUICE_SIDE_REQUEST, text(name), text(value));
}

struct work {
  void *instance;
  sluice_token token;
};

static void go_on(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  sluice_exchange *exchange = host->enter(host, work->token);
  tell(work->instance, "late", add(work->instance, exchange, "x-late", "1"));
  host->resume(host, work->token, SLUICE_VERDICT_CONTINUE);
  free(work);
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)side, (void)piece;
  tell(instance, "barred", add(instance, exchange, "Content-Length", "5"));
  tell(instance, "connection", add(instance, exchange, "Transfer-Encoding", "chunked"));
  tell(instance, "lines", add(instance, exchange, "x-a", "1\r\nx-b: 2"));
  tell(instance, "name", add(instance, exchange, "x a", "1"));
  tell(instance, "other-side",
       api_of(instance)->trailer_add(exchange, SLUICE_SIDE_RESPONSE, text("x-a"), text("1")));
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
  (void)side;
  const sluice_host *host = host_of(instance);
  tell(instance, "sum", add(instance, exchange, "x-sum", "1"));
  if (!sluice_request_header(host, exchange, "x-suspends").size) return SLUICE_BODY_VERDICT_PASS;
  struct work *work = malloc(sizeof *work);
  work->instance = instance;
  if (host->exchange->suspend(exchange, &work->token) != SLUICE_STATUS_OK) abort();
  host->post(host, 0, go_on, work);
  return SLUICE_BODY_VERDICT_SUSPENDED;
}

static sluice_body_verdict on_trailer(
    void *instance, sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  (void)exchange, (void)value;
  tell_text(instance, side == SLUICE_SIDE_REQUEST ? "request-trailer" : "response-trailer", name);
  return sluice_text_equals(name, "x-drop") ? SLUICE_BODY_VERDICT_TAKEN : SLUICE_BODY_VERDICT_PASS;
}

static const sluice_body table =
    SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_REQUEST, .on_chunk = on_chunk, .on_end = on_end,
                 .on_trailer = on_trailer);
SLUICE_REQUIRES(streamed_body);
STAGE_PLUGIN(SLUICE_BODY_ID, table);
