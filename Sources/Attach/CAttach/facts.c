#include "facts.h"

#include "text.h"

#include <strings.h>

int32_t facts_http_version(long number) {
  switch (number) {
    case CURL_HTTP_VERSION_1_0: return 10;
    case CURL_HTTP_VERSION_1_1: return 11;
    case CURL_HTTP_VERSION_2_0: return 20;
    case CURL_HTTP_VERSION_3: return 30;
    default: return 0;
  }
}

static int64_t number_of(const struct handle *handle, CURLINFO info) {
  curl_off_t value = 0;
  return handle->curl->easy_getinfo(handle->easy, info, &value) == CURLE_OK ? (int64_t)value : 0;
}

bool facts_speak_http(const struct handle *handle) {
  static const char *const schemes[] = {"http", "https", "ws", "wss"};
  char *scheme = NULL;
  handle->curl->easy_getinfo(handle->easy, CURLINFO_SCHEME, &scheme);
  for (size_t index = 0; scheme && index < sizeof schemes / sizeof *schemes; index++)
    if (strcasecmp(scheme, schemes[index]) == 0) return true;
  return false;
}

void facts_read(struct sluice_attach_facts *facts, const struct handle *handle) {
  const struct libcurl *curl = handle->curl;
  char *address = NULL;
  long version = 0, connects = 0;
  curl->easy_getinfo(handle->easy, CURLINFO_PRIMARY_IP, &address);
  curl->easy_getinfo(handle->easy, CURLINFO_HTTP_VERSION, &version);
  curl->easy_getinfo(handle->easy, CURLINFO_NUM_CONNECTS, &connects);
  *facts = (struct sluice_attach_facts){
      .name_lookup = number_of(handle, CURLINFO_NAMELOOKUP_TIME_T),
      .connect = number_of(handle, CURLINFO_CONNECT_TIME_T),
      .tls = number_of(handle, CURLINFO_APPCONNECT_TIME_T),
      .pretransfer = number_of(handle, CURLINFO_PRETRANSFER_TIME_T),
      .first_byte = number_of(handle, CURLINFO_STARTTRANSFER_TIME_T),
      .total = number_of(handle, CURLINFO_TOTAL_TIME_T),
      .sent_bytes = number_of(handle, CURLINFO_SIZE_UPLOAD_T),
      .received_bytes = number_of(handle, CURLINFO_SIZE_DOWNLOAD_T),
      .address = text(address),
      .http_version = facts_http_version(version),
      .connections = connects,
  };
}
