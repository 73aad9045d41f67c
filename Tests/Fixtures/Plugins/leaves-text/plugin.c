// Leaves text in a buffer of stdio. At the end of the process, the buffer is flushed: into standard error; with BLOCKS,
// into a full pipe; with CRASHES, into a stream whose write function crashes.
#define _GNU_SOURCE
#include "../stage.h"

#include <fcntl.h>
#include <unistd.h>

#ifdef CRASHES
static ssize_t crash(void *cookie, const char *bytes, size_t size) {
  (void)cookie, (void)bytes, (void)size;
  abort();
}
#endif

static FILE *stream(void) {
#if defined(BLOCKS)
  int ends[2];
  if (pipe(ends) != 0) return NULL;
  static char block[1 << 16];
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], block, sizeof block) > 0) {}
  while (write(ends[1], block, 1) > 0) {}
  fcntl(ends[1], F_SETFL, 0);
  return fdopen(ends[1], "w");
#elif defined(CRASHES)
  return fopencookie(NULL, "w", (cookie_io_functions_t){.write = crash});
#else
  return fdopen(dup(STDERR_FILENO), "w");
#endif
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  FILE *file = stream();
  if (!file) return SLUICE_VERDICT_FAIL;
  static char buffer[4096];
  setvbuf(file, buffer, _IOFBF, sizeof buffer);
  fputs("left in a buffer\n", file);
  return api_of(instance)->respond(exchange, 204);
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
