// Sets a header with the time of the host, and one with a random value; fails requests for /fail. EXPECTED_REQUEST and
// EXPECTED_RESPONSE are what its self-test cases expect.
#include "../stage.h"

#ifndef EXPECTED_REQUEST
#define EXPECTED_REQUEST "{\"headers\": {\"x-time\": \"1440938160000000000\", \"x-nonce\": {}}}"
#endif

#ifndef EXPECTED_RESPONSE
#define EXPECTED_RESPONSE "{\"error\": {\"code\": \"no_token\"}}"
#endif

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  sluice_text url = {NULL, 0};
  host->exchange->url_get(exchange, &url);
  if (sluice_text_equals(url, "http://example.com/fail")) {
    return sluice_fail(host, exchange, "no_token", "there is no token");
  }
  char value[32];
  snprintf(value, sizeof value, "%llu", (unsigned long long)sluice_wall_clock_ns(host));
  sluice_set_request_header(host, exchange, "x-time", value);
  snprintf(value, sizeof value, "%d", rand());
  sluice_set_request_header(host, exchange, "x-nonce", value);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
static const sluice_selftest_case dates =
    SLUICE_TABLE(sluice_selftest_case, .name = "dates", .description = "A request has the date.",
                 .expected_request = EXPECTED_REQUEST, .wall_clock_ns = 1440938160000000000u);
static const sluice_selftest_case fails =
    SLUICE_TABLE(sluice_selftest_case, .name = "fails", .description = "Without a token, the request fails.",
                 .request = "{\"url\": \"http://example.com/fail\"}", .expected_response = EXPECTED_RESPONSE);
static const sluice_selftest_case *const cases[] = {&dates, &fails};
static const sluice_selftest selftest = SLUICE_TABLE(sluice_selftest, .count = 2, .cases = cases);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_SELFTEST_ID, &selftest});
FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
