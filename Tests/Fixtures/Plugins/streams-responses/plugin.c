// Answers requests itself, with a body that a thread writes piece by piece. The path selects the action:
//   /write/PIECES/BYTES   PIECES pieces of BYTES bytes each; the length is unknown
//   /announce/LENGTH/BYTES   one piece of BYTES bytes, with the announced length LENGTH
//   /fail   a piece, and then an error
//   /never  nothing
//   /replace/PIECES/BYTES   passes the request on, and gives the server's response the body of /write
//   /resize/LENGTH/BYTES   passes the request on, and gives the server's response the body of /announce
#include <pthread.h>
#include <sluice/draft/response_stream.h>
#include <stdatomic.h>

#include "../stage.h"

typedef struct body {
  const sluice_host *host;
  const sluice_response_stream *streams;
  sluice_stream stream;
  size_t pieces, bytes;
  int fails;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int is_writable, is_closed, has_begun;
  pthread_t thread;
} body;

static void tell_body(const body *self, const char *name, long number) { tell((void *)self->host, name, number); }

static sluice_status write_piece(body *self, sluice_bytes piece) {
  for (;;) {
    pthread_mutex_lock(&self->lock);
    self->is_writable = 0;
    pthread_mutex_unlock(&self->lock);
    sluice_status status = self->streams->write(self->host, self->stream, piece);
    if (status != SLUICE_STATUS_LIMIT) return status;
    tell_body(self, "limit", 1);
    pthread_mutex_lock(&self->lock);
    while (!self->is_writable && !self->is_closed) pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
  }
}

static void *write_all(void *context) {
  body *self = context;
  uint8_t *bytes = malloc(self->bytes + 1);
  if (!bytes) abort();
  memset(bytes, 'x', self->bytes);
  sluice_bytes piece = {bytes, self->bytes};
  sluice_status status = SLUICE_STATUS_OK;
  for (size_t i = 0; i < self->pieces && status == SLUICE_STATUS_OK; i++) status = write_piece(self, piece);
  tell_body(self, "written", status);
  free(bytes);
  if (self->fails) {
    tell_body(self, "fail", self->streams->fail(self->host, self->stream, text("broken"), text("the source broke")));
  } else if (status == SLUICE_STATUS_OK) {
    tell_body(self, "end", self->streams->end(self->host, self->stream));
    tell_body(self, "end-again", self->streams->end(self->host, self->stream));
    tell_body(self, "write-late", self->streams->write(self->host, self->stream, bytes_of("late")));
  }
  return NULL;
}

static void on_event(void *context, sluice_stream_event event) {
  body *self = context;
  pthread_mutex_lock(&self->lock);
  if (event == SLUICE_STREAM_WRITABLE) self->is_writable = 1;
  if (event == SLUICE_STREAM_CLOSED) self->is_closed = 1;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->lock);
  if (event != SLUICE_STREAM_CLOSED) return;
  tell_body(self, "closed", 1);
  if (self->has_begun) pthread_join(self->thread, NULL);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  free(self);
}

static void read_path(const sluice_host *host, sluice_exchange *exchange, char *path, size_t size) {
  sluice_context context = {.size = sizeof context};
  host->exchange->context(exchange, &context);
  snprintf(path, size, "%.*s", (int)context.path.size, context.path.data);
}

static body *make_body(const sluice_host *host) {
  body *self = calloc(1, sizeof *self);
  if (!self) abort();
  self->host = host;
  self->streams = host->extension(host, SLUICE_RESPONSE_STREAM_ID);
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->changed, NULL);
  return self;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  char path[64];
  read_path(host, exchange, path, sizeof path);
  unsigned long long length = UINT64_MAX;
  size_t pieces = 1, bytes;
  if (sscanf(path, "/replace/%zu/%zu", &pieces, &bytes) != 2 && sscanf(path, "/resize/%llu/%zu", &length, &bytes) != 2)
    return SLUICE_VERDICT_CONTINUE;
  body *self = make_body(host);
  self->pieces = pieces, self->bytes = bytes;
  sluice_status status = self->streams->open(exchange, length, on_event, self, &self->stream);
  tell(instance, "open", status);
  sluice_text value = sluice_response_header(host, exchange, "content-length");
  tell_text(instance, "length", value.data ? value : text("none"));
  self->has_begun = 1;
  if (status != SLUICE_STATUS_OK || pthread_create(&self->thread, NULL, write_all, self) != 0) abort();
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  char path[64];
  read_path(host, exchange, path, sizeof path);
  if (strncmp(path, "/re", 3) == 0) return SLUICE_VERDICT_CONTINUE;
  body *self = make_body(host);
  unsigned long long length = UINT64_MAX;
  if (sscanf(path, "/write/%zu/%zu", &self->pieces, &self->bytes) != 2 &&
      sscanf(path, "/announce/%llu/%zu", &length, &self->bytes) == 2) {
    self->pieces = 1;
  }
  self->fails = strcmp(path, "/fail") == 0;
  if (self->fails) self->pieces = 1, self->bytes = 3;
  sluice_stream before = 0;
  tell(instance, "early", self->streams->open(exchange, UINT64_MAX, on_event, self, &before));
  sluice_verdict verdict = host->exchange->respond(exchange, 200);
  sluice_status status = self->streams->open(exchange, length, on_event, self, &self->stream);
  tell(instance, "open", status);
  if (status != SLUICE_STATUS_OK) abort();
  if (strcmp(path, "/never") != 0) {
    self->has_begun = 1;
    if (pthread_create(&self->thread, NULL, write_all, self) != 0) abort();
  }
  return verdict;
}

static const sluice_interceptor table = SLUICE_TABLE(
    sluice_interceptor, .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
