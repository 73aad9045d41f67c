#define _GNU_SOURCE
#include "looked_up.h"

#include "interposed.h"
#include "looked_up_owners.h"
#include "session.h"

#include <string.h>

// MARK: The copies

// The functions of libcurl that this library defines: type, name, parameters, arguments.
#define FUNCTIONS(F, N)                                                                                               \
  F(N, CURLcode, curl_global_init_mem,                                                                                \
    (long flags, curl_malloc_callback a, curl_free_callback b, curl_realloc_callback c, curl_strdup_callback d,       \
     curl_calloc_callback e),                                                                                         \
    (flags, a, b, c, d, e))                                                                                           \
  F(N, CURL *, curl_easy_init, (void), ())                                                                            \
  F(N, CURLcode, curl_easy_setopt, (CURL * easy, CURLoption option, void *value), (easy, option, value))              \
  F(N, CURLcode, curl_easy_perform, (CURL * easy), (easy))                                                            \
  F(N, void, curl_easy_reset, (CURL * easy), (easy))                                                                  \
  F(N, CURLcode, curl_easy_pause, (CURL * easy, int what), (easy, what))                                              \
  F(N, CURL *, curl_easy_duphandle, (CURL * easy), (easy))                                                            \
  F(N, void, curl_easy_cleanup, (CURL * easy), (easy))                                                                \
  F(N, CURLM *, curl_multi_init, (void), ())                                                                          \
  F(N, CURLMcode, curl_multi_setopt, (CURLM * multi, CURLMoption option, void *value), (multi, option, value))        \
  F(N, CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL * easy), (multi, easy))                                 \
  F(N, CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL * easy), (multi, easy))                              \
  F(N, CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))                                    \
  F(N, CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                                       \
  F(N, CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))                                \
  F(N, CURLMcode, curl_multi_socket, (CURLM * multi, curl_socket_t socket, int *running), (multi, socket, running))   \
  F(N, CURLMcode, curl_multi_socket_action, (CURLM * multi, curl_socket_t socket, int events, int *running),          \
    (multi, socket, events, running))                                                                                 \
  F(N, CURLMcode, curl_multi_socket_all, (CURLM * multi, int *running), (multi, running))                             \
  F(N, CURLMcode, curl_multi_poll, (CURLM * multi, struct curl_waitfd more[], unsigned count, int limit, int *ready), \
    (multi, more, count, limit, ready))                                                                               \
  F(N, CURLMcode, curl_multi_wait, (CURLM * multi, struct curl_waitfd more[], unsigned count, int limit, int *ready), \
    (multi, more, count, limit, ready))                                                                               \
  F(N, CURLMcode, curl_multi_timeout, (CURLM * multi, long *milliseconds), (multi, milliseconds))

// A function of one copy. Each copy has a section, so that a return address tells the copy. A function must therefore
// not be left by a jump. The variadic functions take one argument of the size of a pointer, which arrives like an
// ordinary argument.
#define DEFINE(N, TYPE, NAME, PARAMETERS, ARGUMENTS)                                            \
  __attribute__((section("looked_up_" #N), noinline, disable_tail_calls)) static TYPE NAME##_##N PARAMETERS { \
    return NAME ARGUMENTS;                                                                      \
  }
#define COPY(N) FUNCTIONS(DEFINE, N)

LOOKED_UP_COPIES(COPY)

#define POINT(N, TYPE, NAME, PARAMETERS, ARGUMENTS) {#NAME, (void *)NAME##_##N},
#define ENTRY(N) {{FUNCTIONS(POINT, N)}},

static const struct copy {
  struct {
    const char *name;
    void *function;
  } functions[21];
} copies[] = {LOOKED_UP_COPIES(ENTRY)};

// MARK: Without a copy

static CURLcode refuse_to_perform(CURL *easy) {
  (void)easy;
  session_count(SLUICE_ATTACH_COUNT_COPIES);
  return CURLE_ABORTED_BY_CALLBACK;
}

static CURLMcode refuse_to_add(CURLM *multi, CURL *easy) {
  (void)multi, (void)easy;
  session_count(SLUICE_ATTACH_COUNT_COPIES);
  return CURLM_INTERNAL_ERROR;
}

/// What a program gets if no copy is left: libcurl's own function, or one that refuses each transfer. Libcurl's own
/// cannot be counted when it is called, so its look-up is counted.
static void *function_without_copy(const char *name) {
  const bool performs = strcmp(name, "curl_easy_perform") == 0;
  if (!session_is_on || (!performs && strcmp(name, "curl_multi_add_handle") != 0)) return NULL;
  session_prepare();
  if (session_fails_without_pipeline()) return performs ? (void *)refuse_to_perform : (void *)refuse_to_add;
  session_count(SLUICE_ATTACH_COUNT_COPIES);
  return NULL;
}

void *looked_up_function(const struct link_map *library, const char *name) {
  if (!interposed_function(name)) return NULL;
  session_begin();
  const int number = looked_up_copy_of(library);
  if (number < 0) return function_without_copy(name);
  const struct copy *copy = &copies[number];
  for (size_t index = 0; index < sizeof copy->functions / sizeof *copy->functions; index++)
    if (strcmp(copy->functions[index].name, name) == 0) return copy->functions[index].function;
  return NULL;
}
