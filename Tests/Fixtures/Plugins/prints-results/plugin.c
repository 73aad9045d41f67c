// Prints a text that looks like the result of a request, and answers each request itself. With KEEPS the text stays in
// the buffer of standard output until the process ends.
#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
#ifdef KEEPS
  static char buffer[4096];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
#endif
  printf("{\"id\": \"forged\", \"response\": {\"status\": 200}}\n");
  return api_of(instance)->respond(exchange, 204);
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
