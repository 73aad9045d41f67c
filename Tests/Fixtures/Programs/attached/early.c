// A library that makes a transfer while it is being loaded, to the URL in the variable EARLY_URL.
#include "client.h"

__attribute__((constructor)) static void begin(void) {
  const char *url = getenv("EARLY_URL");
  CURL *easy = url ? open_client(url, "/early") : NULL;
  if (!easy) return;
  perform(easy);
  curl_easy_cleanup(easy);
}
