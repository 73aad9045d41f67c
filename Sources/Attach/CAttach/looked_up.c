#define _GNU_SOURCE
#include "looked_up.h"

#include "interposed.h"
#include "session.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
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
#define COPY(N)                                                                                           \
  extern const char __start_looked_up_##N[] __attribute__((visibility("hidden")));                        \
  extern const char __stop_looked_up_##N[] __attribute__((visibility("hidden")));                         \
  FUNCTIONS(DEFINE, N)

COPY(0) COPY(1) COPY(2) COPY(3) COPY(4) COPY(5) COPY(6) COPY(7)

#define POINT(N, TYPE, NAME, PARAMETERS, ARGUMENTS) {#NAME, (void *)NAME##_##N},
#define ENTRY(N) {__start_looked_up_##N, __stop_looked_up_##N, {FUNCTIONS(POINT, N)}}

static const struct copy {
  const char *start, *end;
  struct {
    const char *name;
    void *function;
  } functions[21];
} copies[] = {ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6), ENTRY(7)};
enum { COPIES = sizeof copies / sizeof *copies };

// MARK: The libraries

/// A library that has got a copy. Entries are never removed.
struct owner {
  const struct link_map *library;
  struct libcurl curl;
};

static _Atomic(struct owner *) owners[COPIES];

const struct libcurl *looked_up_at(const void *caller) {
  for (int index = 0; index < COPIES; index++) {
    const struct owner *owner = atomic_load_explicit(&owners[index], memory_order_acquire);
    if (!owner) return NULL;
    if ((const char *)caller >= copies[index].start && (const char *)caller < copies[index].end) return &owner->curl;
  }
  return NULL;
}

static struct owner *make_owner(const struct link_map *library) {
  struct owner *owner = calloc(1, sizeof *owner);
  if (!owner) return NULL;
  owner->library = library;
  if (libcurl_read(&owner->curl, library)) return owner;
  free(owner);
  return NULL;
}

/// The copy of a library, or NULL. Without a lock: the caller may hold that of the loader.
static const struct copy *copy_of(const struct link_map *library) {
  struct owner *made = NULL;
  const struct copy *copy = NULL;
  for (int index = 0; index < COPIES && !copy; index++) {
    struct owner *owner = atomic_load_explicit(&owners[index], memory_order_acquire);
    if (!owner && !made && !(made = make_owner(library))) return NULL;
    if (!owner && atomic_compare_exchange_strong(&owners[index], &owner, made)) {
      made = NULL;
      copy = &copies[index];
    } else if (owner && owner->library == library) {
      copy = &copies[index];
    }
  }
  free(made);
  return copy;
}

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
  const struct copy *copy = copy_of(library);
  if (!copy) return function_without_copy(name);
  for (size_t index = 0; index < sizeof copy->functions / sizeof *copy->functions; index++)
    if (strcmp(copy->functions[index].name, name) == 0) return copy->functions[index].function;
  return NULL;
}
