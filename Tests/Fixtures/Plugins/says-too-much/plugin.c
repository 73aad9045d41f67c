// Logs the text MESSAGE, repeated AGAIN times. Fails each request with this text and the code CODE.
#include "../stage.h"

#ifndef CODE
#define CODE "odd"
#endif
#ifndef MESSAGE
#define MESSAGE "down\nsluice: error: the host is down\r\x1b[2J\xe2\x80\xa8" "end\xff"
#endif
#ifndef AGAIN
#define AGAIN 1
#endif

static sluice_text repeated(const char *piece) {
  static char bytes[1 << 20];
  const size_t length = strlen(piece);
  size_t size = 0;
  for (int count = 0; count < AGAIN && size + length <= sizeof bytes; count++, size += length) {
    memcpy(bytes + size, piece, length);
  }
  return (sluice_text){.data = bytes, .size = size};
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_text message = repeated(MESSAGE);
  host_of(instance)->log(host_of(instance), SLUICE_LOG_WARNING, message);
  return api_of(instance)->fail(exchange, text(CODE), message);
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
