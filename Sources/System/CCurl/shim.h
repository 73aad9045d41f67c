// libcurl, and the typed forms of its variadic functions, which Swift cannot call.
#ifndef SLUICE_CCURL_SHIM_H
#define SLUICE_CCURL_SHIM_H
#include <curl/curl.h>

static inline const curl_version_info_data *sluice_curl_version(void) { return curl_version_info(CURLVERSION_NOW); }

/// Returns an address inside libcurl, with which the loaded library can be identified.
static inline const void *sluice_curl_address(void) { return (const void *)curl_easy_init; }

static inline CURLcode sluice_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sluice_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

// libcurl copies the text of most options and keeps the pointer of CURLOPT_POSTFIELDS and CURLOPT_ERRORBUFFER.
static inline CURLcode sluice_easy_set_text(CURL *easy, CURLoption option, const char *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sluice_easy_set_pointer(CURL *easy, CURLoption option, const void *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sluice_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *_Nullable list) {
  return curl_easy_setopt(easy, option, list);
}

static inline CURLcode sluice_easy_set_data_function(CURL *easy, CURLoption option, curl_write_callback function) {
  return curl_easy_setopt(easy, option, function);
}

static inline CURLcode sluice_easy_set_seek_function(CURL *easy, curl_seek_callback function) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode sluice_easy_set_open_function(CURL *easy, curl_opensocket_callback function) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode sluice_easy_set_close_function(CURL *easy, curl_closesocket_callback function) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

static inline CURLcode sluice_easy_set_debug_function(CURL *easy, curl_debug_callback function) {
  return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode sluice_easy_set_prereq_function(CURL *easy, curl_prereq_callback function) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline long sluice_easy_get_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t sluice_easy_get_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline const char *_Nullable sluice_easy_get_text(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

static inline void *_Nullable sluice_easy_get_private(CURL *easy) {
  char *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

/// The TLS session of the connection, an `SSL *`; NULL without TLS, or if libcurl uses another TLS library than
/// OpenSSL.
static inline void *_Nullable sluice_easy_get_openssl(CURL *easy) {
  const struct curl_tlssessioninfo *info = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
  return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

static inline CURLMcode sluice_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode sluice_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
  return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode sluice_multi_set_socket_function(CURLM *multi, curl_socket_callback function) {
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
}

static inline CURLMcode sluice_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function) {
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
}

#endif
