// The libcurl that a part of the program uses. A process may have several: Debian has one over OpenSSL and one over
// GnuTLS, with different symbol versions.
#ifndef SLUICE_ATTACH_LIBCURL_H
#define SLUICE_ATTACH_LIBCURL_H
#define CURL_DISABLE_TYPECHECK
// Programs may still use options that libcurl marks as deprecated.
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
// These macros of the header would also be expanded in the definitions of the functions.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
// This macro replaces the function by curl_multi_socket_action.
#undef curl_multi_socket
#include <stdbool.h>
#include <time.h>

/// The functions that a caller would reach without this library. Immutable, and never freed. A missing function is
/// NULL.
struct libcurl {
  CURL *(*easy_init)(void);
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
  CURLcode (*easy_perform)(CURL *);
  void (*easy_reset)(CURL *);
  CURL *(*easy_duphandle)(CURL *);
  void (*easy_cleanup)(CURL *);
  struct curl_header *(*easy_nextheader)(CURL *, unsigned int, int, struct curl_header *);
  const char *(*easy_strerror)(CURLcode);
  CURLcode (*easy_pause)(CURL *, int);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
  CURLMcode (*multi_perform)(CURLM *, int *);
  CURLMcode (*multi_socket)(CURLM *, curl_socket_t, int *);
  CURLMcode (*multi_socket_action)(CURLM *, curl_socket_t, int, int *);
  CURLMcode (*multi_socket_all)(CURLM *, int *);
  CURLMcode (*multi_wait)(CURLM *, struct curl_waitfd[], unsigned int, int, int *);
  CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd[], unsigned int, int, int *);
  CURLMcode (*multi_timeout)(CURLM *, long *);
  CURLMcode (*multi_add_handle)(CURLM *, CURL *);
  CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
  CURLMsg *(*multi_info_read)(CURLM *, int *);
  CURLMcode (*multi_cleanup)(CURLM *);
  CURLcode (*global_init)(long);
  CURLcode (*global_init_mem)(
      long, curl_malloc_callback, curl_free_callback, curl_realloc_callback, curl_strdup_callback, curl_calloc_callback);
  struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
  void (*slist_free_all)(struct curl_slist *);
  CURLU *(*url)(void);
  CURLU *(*url_dup)(const CURLU *);
  CURLUcode (*url_get)(const CURLU *, CURLUPart, char **, unsigned int);
  CURLUcode (*url_set)(CURLU *, CURLUPart, const char *, unsigned int);
  void (*url_cleanup)(CURLU *);
  void (*free)(void *);
  curl_version_info_data *(*version_info)(CURLversion);
  /// Whether this libcurl has all functions that a transfer through the pipeline needs; libcurl 7.83 and later have
  /// them.
  bool is_complete;
  /// Whether the caller is itself a libcurl, which creates handles for its own use, such as for DNS over HTTPS.
  bool is_for_itself;
};

/// Whether a path names a libcurl, of any build, including the names that Python packages give it. Returns false for
/// libcurlpp.
bool is_libcurl(const char *path);

/// The libcurl of the code at an address, such as a return address. Never NULL. From any thread.
const struct libcurl *libcurl_of(const void *caller);

/// Takes a lock before a fork(). While it is held, no thread looks up functions. If the lock is not free, waits for it
/// until the time `until` of CLOCK_MONOTONIC. The wait has a limit because a look-up can wait for a library whose
/// constructor forks.
///
/// @return whether it is locked
bool libcurl_lock(const struct timespec *until);
void libcurl_unlock(void);
/// Makes the lock usable in the child of a fork() before which `libcurl_lock` failed.
void libcurl_lock_anew(void);

#endif
