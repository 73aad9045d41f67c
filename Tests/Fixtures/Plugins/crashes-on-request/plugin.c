// Sets the header x-stamp-a to BUILD. With CRASHES it crashes in a request to a URL that ends with /crash.
#include "../stage.h"

#ifndef BUILD
#define BUILD 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif

__attribute__((noinline)) static int write_through(volatile int *address) {
  *address = 1;
  return *address;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_text url = {0};
  api->url_get(exchange, &url);
  static const char end[] = "/crash";
  size_t length = sizeof end - 1;
  if (CRASHES && url.size >= length && memcmp(url.data + url.size - length, end, length) == 0) {
    write_through((volatile int *)8);
  }
  char build[16];
  snprintf(build, sizeof build, "%d", BUILD);
  return api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-stamp-a"), text(build)) == SLUICE_STATUS_OK ? SLUICE_VERDICT_CONTINUE
                                                                                                 : SLUICE_VERDICT_FAIL;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
