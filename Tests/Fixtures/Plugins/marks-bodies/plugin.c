// Adds its mark, `|name`, at the end of a body, in the way that KIND names. The body is the body of the request if
// SIDE_IS_REQUEST is 1, otherwise the body of the response.
//   PIECES     passes pieces on and adds its mark at the end
//   SUSPENDS   the same, but suspends on each piece and at the end, and continues from a posted function
//   WHOLE      wants the whole body, and sets another one
//   DOCUMENT   wants the whole body, and changes it in the document
//   MAKES      replaces any body by one of its own
//   HIT        answers the request itself
#include "../stage.h"

#define PIECES 1
#define SUSPENDS 2
#define WHOLE 3
#define DOCUMENT 4
#define MAKES 5
#define HIT 6

#if SIDE_IS_REQUEST
#define SIDE SLUICE_SIDE_REQUEST
#else
#define SIDE SLUICE_SIDE_RESPONSE
#endif

static void mark(void *instance, char *target, size_t size, const char *before) {
  sluice_text name = host_of(instance)->instance_name;
  snprintf(target, size, "%s|%.*s", before, (int)name.size, name.data);
}

#if KIND == PIECES || KIND == SUSPENDS

#if KIND == SUSPENDS
struct work {
  void *instance;
  sluice_token token;
  size_t size;
  uint8_t bytes[];
};

static void go_on(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  sluice_exchange *exchange = host->enter(host, work->token);
  const sluice_bytes bytes = {work->bytes, work->size};
  if (!exchange || host->exchange->body_write(exchange, SIDE, bytes) != SLUICE_STATUS_OK) tell(work->instance, "lost", 1);
  host->resume(host, work->token, SLUICE_VERDICT_CONTINUE);
  free(work);
}

static sluice_body_verdict send(void *instance, sluice_exchange *exchange, sluice_bytes bytes) {
  const sluice_host *host = host_of(instance);
  sluice_context context = SLUICE_SIZED(sluice_context);
  host->exchange->context(exchange, &context);
  struct work *work = malloc(sizeof *work + bytes.size);
  work->instance = instance;
  memcpy(work->bytes, bytes.data, bytes.size);
  work->size = bytes.size;
  if (host->exchange->suspend(exchange, &work->token) != SLUICE_STATUS_OK) return SLUICE_BODY_VERDICT_FAIL;
  host->post(host, context.loop, go_on, work);
  return SLUICE_BODY_VERDICT_SUSPENDED;
}
#else
static sluice_body_verdict send(void *instance, sluice_exchange *exchange, sluice_bytes bytes) {
  api_of(instance)->body_write(exchange, SIDE, bytes);
  return SLUICE_BODY_VERDICT_TAKEN;
}
#endif

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)side;
  return send(instance, exchange, piece);
}

static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
  (void)side;
  char text[64];
  mark(instance, text, sizeof text, "");
  return send(instance, exchange, bytes_of(text));
}

static const sluice_body body = SLUICE_TABLE(sluice_body,
    .sides = SIDE == SLUICE_SIDE_REQUEST ? SLUICE_BODY_SIDE_REQUEST : SLUICE_BODY_SIDE_RESPONSE,
    .on_chunk = on_chunk, .on_end = on_end);

#else

#if KIND == WHOLE || KIND == DOCUMENT
/// Writes the body, and then the mark, to `target`. Reads the body from memory or from its file.
static void marked(void *instance, sluice_exchange *exchange, char *target, size_t size) {
  char before[512] = "";
  sluice_bytes bytes;
  sluice_text path;
  uint64_t count;
  if (api_of(instance)->body_get(exchange, SIDE, &bytes) == SLUICE_STATUS_OK) {
    snprintf(before, sizeof before, "%.*s", (int)bytes.size, (const char *)bytes.data);
  } else if (api_of(instance)->body_file(exchange, SIDE, &path, &count) == SLUICE_STATUS_OK) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)path.size, path.data);
    FILE *file = fopen(name, "r");
    if (file) {
      before[fread(before, 1, sizeof before - 1, file)] = 0;
      fclose(file);
    }
  } else {
    snprintf(before, sizeof before, "(no body)");
  }
  mark(instance, target, size, before);
}
#endif

static sluice_verdict work(void *instance, sluice_exchange *exchange) {
  char text[600];
#if KIND == WHOLE
  marked(instance, exchange, text, sizeof text);
  api_of(instance)->body_set(exchange, SIDE, bytes_of(text));
#elif KIND == DOCUMENT
  marked(instance, exchange, text, sizeof text);
  json_t *document = api_of(instance)->json(exchange, SIDE, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  json_object_set_new(document, "body", json_pack("{s:s}", "text", text));
#else
  mark(instance, text, sizeof text, "made");
  if (SIDE == SLUICE_SIDE_RESPONSE || KIND == HIT) {
    sluice_verdict verdict = api_of(instance)->respond(exchange, 200);
    api_of(instance)->body_set(exchange, SLUICE_SIDE_RESPONSE, bytes_of(text));
    return verdict;
  }
  api_of(instance)->body_set(exchange, SIDE, bytes_of(text));
#endif
  return SLUICE_VERDICT_CONTINUE;
}

#if KIND == WHOLE || KIND == DOCUMENT
#define WANTS (SIDE == SLUICE_SIDE_REQUEST ? SLUICE_WANTS_REQUEST_BODY : SLUICE_WANTS_RESPONSE_BODY)
#else
#define WANTS 0
#endif
#if SIDE_IS_REQUEST || KIND == HIT
#define WHEN .on_request
#else
#define WHEN .on_response
#endif
static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .wants = WANTS, WHEN = work);

#endif

static const void *extension(const char *id) {
#if KIND == PIECES || KIND == SUSPENDS
  return strcmp(id, SLUICE_BODY_ID) == 0 ? &body : NULL;
#else
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &interceptor : NULL;
#endif
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
