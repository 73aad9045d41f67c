// Gives the host the file that the header `x-file` names, as many times as `x-times` says. With `x-fifo`, it then
// replaces the file by a FIFO. With each piece of a response, it adds two trailers, one of which is not allowed.
#include <sys/stat.h>
#include <unistd.h>

#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  char path[256];
  sluice_text file = sluice_request_header(host, exchange, "x-file");
  if (!file.size) return SLUICE_VERDICT_CONTINUE;
  snprintf(path, sizeof path, "%.*s", (int)file.size, file.data);
  FILE *made = fopen(path, "w");
  if (!made) return SLUICE_VERDICT_FAIL;
  fputs("given", made);
  fclose(made);
  int times = sluice_text_equals(sluice_request_header(host, exchange, "x-times"), "2") ? 2 : 1;
  uint32_t flags = sluice_text_equals(sluice_request_header(host, exchange, "x-flags"), "3") ? 3 : SLUICE_FILE_REMOVE;
  for (int i = 0; i < times; i++) {
    tell(instance, "given", api_of(instance)->body_set_file(exchange, SLUICE_SIDE_REQUEST, text(path), flags));
  }
  if (sluice_text_equals(sluice_request_header(host, exchange, "x-fifo"), "1")) {
    unlink(path);
    if (mkfifo(path, 0600) != 0) abort();
  }
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)piece;
  tell(instance, "allowed", api_of(instance)->trailer_add(exchange, side, text("x-sum"), text("1")));
  tell(instance, "barred", api_of(instance)->trailer_add(exchange, side, text("Content-Length"), text("5")));
  return SLUICE_BODY_VERDICT_PASS;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
static const sluice_body body =
    SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk);
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_BODY_ID, &body});
FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
