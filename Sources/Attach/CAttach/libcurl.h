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
  /// Whether this libcurl is in another namespace of the loader (dlmopen). Its libc and the libc of the host would use
  /// the same data of a thread.
  bool is_elsewhere;
};

/// The libcurl of the code at an address, such as a return address. Never NULL. From any thread.
const struct libcurl *libcurl_of(const void *caller);

/// The function of that name; NULL if the libcurl has none, or if this library never needs it.
void *libcurl_function(const struct libcurl *curl, const char *name);

/// Sets each function to what `find` returns for its name.
void libcurl_fill(struct libcurl *curl, void *(*find)(const void *source, const char *name), const void *source);

struct link_map;

/// The functions of a loaded libcurl, which is then never unloaded. Returns false if there is none in that object.
bool libcurl_read(struct libcurl *curl, const struct link_map *object);

#endif
