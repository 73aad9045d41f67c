// Sets the header x-build to BUILD. With FAILS=1 it fails every request. With FAILS=2 it ends the process in a request
// to a URL that ends with /crash.
#include "../stage.h"

#ifndef BUILD
#define BUILD "1"
#endif
#ifndef FAILS
#define FAILS 0
#endif

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  if (FAILS == 1) return SLUICE_VERDICT_FAIL;
  sluice_text url = {0};
  api->url_get(exchange, &url);
  static const char end[] = "/crash";
  size_t length = sizeof end - 1;
  if (FAILS == 2 && url.size >= length && memcmp(url.data + url.size - length, end, length) == 0) abort();
  return api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-build"), text(BUILD)) == SLUICE_STATUS_OK
             ? SLUICE_VERDICT_CONTINUE
             : SLUICE_VERDICT_FAIL;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
