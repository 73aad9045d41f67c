// Each exchange has separate handles, in a libcurl that the program uses. Libcurl works only while `working` is held,
// and waits for the network without it. A fork() takes `working`, so no lock of libcurl or of its TLS library is held
// at that moment.
#define _GNU_SOURCE
#include "exchange.h"

#include "exchange_result.h"
#include "exchange_sockets.h"
#include "gate.h"
#include "sanitizer.h"
#include "text.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/// How long libcurl waits before the thread checks whether the exchange must end.
enum { SLICE_MILLISECONDS = 25 };

static pthread_mutex_t working = PTHREAD_MUTEX_INITIALIZER;
/// The libcurl for exchanges; NULL before the first transfer.
static _Atomic(const struct libcurl *) used;
/// Whether the libcurl in `used` stays initialized until the process ends, whatever the program does.
static _Atomic(bool) is_kept;
static _Atomic(bool) has_own_memory;

/// The variables for proxies, which are read in advance. Otherwise libcurl would read the environment in a thread of
/// the host, while the program may be changing it.
static struct {
  char *http, *https, *none;
} proxies;

// MARK: The libcurl

static bool is_whole(const struct libcurl *curl) {
  return curl->is_complete && curl->easy_init && curl->multi_init && curl->multi_cleanup && curl->multi_add_handle &&
         curl->multi_remove_handle && curl->multi_perform && curl->multi_wait && curl->multi_info_read &&
         curl->global_init && curl->slist_append && curl->slist_free_all;
}

static char *variable(const char *first, const char *second) {
  const char *value = getenv(first);
  if (!value || !*value) value = second ? getenv(second) : NULL;
  return value && *value ? strdup(value) : NULL;
}

/// HTTP_PROXY is not read, as in libcurl, because a CGI server sets this variable to the `Proxy` header of a request
/// (CVE-2016-5388).
static void read_proxies(void) {
  proxies.http = variable("http_proxy", NULL);
  proxies.https = variable("https_proxy", "HTTPS_PROXY");
  if (!proxies.http) proxies.http = variable("all_proxy", "ALL_PROXY");
  if (!proxies.https) proxies.https = variable("all_proxy", "ALL_PROXY");
  proxies.none = variable("no_proxy", "NO_PROXY");
}

/// Keeps libcurl mapped and initialized: the program may clean up or close it before plugins have sent their last data.
/// The reference is never released. The caller must hold `working`.
static bool keep(const struct libcurl *curl) {
  if (is_kept) return true;
  Dl_info place;
  if (dladdr((void *)(uintptr_t)curl->easy_init, &place) && place.dli_fname)
    dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  dlerror();
  is_kept = curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return is_kept;
}

void exchange_use(const struct libcurl *curl, bool calls_out) {
  if (atomic_load_explicit(&used, memory_order_acquire) && (is_kept || !calls_out)) return;
  const int kept = errno;
  pthread_mutex_lock(&working);
  if (!atomic_load(&used) && is_whole(curl)) {
    read_proxies();
    atomic_store_explicit(&used, curl, memory_order_release);
  }
  const struct libcurl *known = atomic_load(&used);
  if (known && calls_out && !atomic_load(&has_own_memory)) keep(known);
  pthread_mutex_unlock(&working);
  errno = kept;
}

void exchange_note_own_memory(void) { atomic_store(&has_own_memory, true); }

// MARK: An exchange

/// The objects that libcurl needs for one exchange.
struct parts {
  const struct libcurl *curl;
  CURL *easy;
  CURLM *multi;
  struct curl_slist *lines;
  /// From exchange_sockets_open_mark.
  int mark;
};

static bool add_lines(struct parts *parts, const struct sluice_attach_exchange *exchange) {
  for (size_t index = 0; index < exchange->line_count; index++) {
    struct curl_slist *longer = parts->curl->slist_append(parts->lines, exchange->lines[index].bytes);
    if (!longer) return false;
    parts->lines = longer;
  }
  return true;
}

static void set_proxy(const struct parts *parts, const char *url) {
  const char *proxy = strncmp(url, "https:", 6) == 0 ? proxies.https : proxies.http;
  parts->curl->easy_setopt(parts->easy, CURLOPT_PROXY, proxy ? proxy : "");
  parts->curl->easy_setopt(parts->easy, CURLOPT_NOPROXY, proxies.none ? proxies.none : "");
}

static void set_trust(const struct parts *parts, const struct sluice_attach_exchange *exchange) {
  const struct libcurl *curl = parts->curl;
  if (exchange->authorities.length) curl->easy_setopt(parts->easy, CURLOPT_CAINFO, exchange->authorities.bytes);
  if (exchange->certificate.length) curl->easy_setopt(parts->easy, CURLOPT_SSLCERT, exchange->certificate.bytes);
  if (exchange->key.length) curl->easy_setopt(parts->easy, CURLOPT_SSLKEY, exchange->key.bytes);
  if (exchange->verifies) return;
  curl->easy_setopt(parts->easy, CURLOPT_SSL_VERIFYPEER, 0L);
  curl->easy_setopt(parts->easy, CURLOPT_SSL_VERIFYHOST, 0L);
}

static void set_request(const struct parts *parts, const struct sluice_attach_exchange *exchange) {
  const struct libcurl *curl = parts->curl;
  CURL *easy = parts->easy;
  curl->easy_setopt(easy, CURLOPT_URL, exchange->url.bytes);
  if (strcmp(exchange->method.bytes, "HEAD") == 0) curl->easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (exchange->has_content) {
    curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->content.length);
    curl->easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->content.bytes);
  }
  curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method.bytes);
  curl->easy_setopt(easy, CURLOPT_HTTPHEADER, parts->lines);
}

static void set_limits(const struct parts *parts, const struct sluice_attach_exchange *exchange) {
  const struct libcurl *curl = parts->curl;
  CURL *easy = parts->easy;
  curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)exchange->limit_milliseconds);
  // CURLOPT_PROTOCOLS_STR is not used, because it exists only from libcurl 7.85 on.
  curl->easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#if LIBCURL_VERSION_NUM >= 0x075700
  // With this option, the end of the process does not wait for a name look-up.
  curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/// The caller must hold `working`.
static bool open_parts(
    struct parts *parts, const struct sluice_attach_exchange *exchange, struct exchange_result *result) {
  const struct libcurl *curl = parts->curl;
  parts->easy = curl->easy_init();
  parts->multi = parts->easy ? curl->multi_init() : NULL;
  parts->mark = exchange_sockets_open_mark();
  if (!parts->multi || parts->mark < 0 || !add_lines(parts, exchange)) return false;
  exchange_sockets_set(parts->easy, curl);
  set_limits(parts, exchange);
  set_proxy(parts, exchange->url.bytes);
  set_trust(parts, exchange);
  set_request(parts, exchange);
  exchange_result_receive(result, parts->easy, curl, exchange->limit_bytes);
  return curl->multi_add_handle(parts->multi, parts->easy) == CURLM_OK;
}

/// Frees what `open_parts` has made. Besides sockets, libcurl has descriptors with which it wakes a multi handle, and
/// it closes them by their numbers. If the program has closed the mark (see exchange_sockets.h), it may have reused
/// these numbers for its own files. Then the handles are not freed. The caller must hold `working`.
static void close_parts(const struct parts *parts) {
  const struct libcurl *curl = parts->curl;
  if (parts->mark >= 0 && !exchange_sockets_has_mark(parts->mark)) return;
  exchange_sockets_close_mark(parts->mark);
  if (parts->multi && parts->easy) curl->multi_remove_handle(parts->multi, parts->easy);
  if (parts->easy) curl->easy_cleanup(parts->easy);
  if (parts->multi) curl->multi_cleanup(parts->multi);
  curl->slist_free_all(parts->lines);
}

/// Lets libcurl do everything that it can do without waiting. The caller must hold `working`.
///
/// @return whether the exchange has ended
static bool advance(const struct parts *parts, CURLcode *code) {
  int running = 0;
  if (parts->curl->multi_perform(parts->multi, &running) != CURLM_OK) {
    *code = CURLE_FAILED_INIT;
    return true;
  }
  int left = 0;
  const CURLMsg *message = parts->curl->multi_info_read(parts->multi, &left);
  if (!message || message->msg != CURLMSG_DONE) return false;
  *code = message->data.result;
  return true;
}

static int64_t now_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Waits for the network, at most SLICE_MILLISECONDS. The caller must not hold `working`.
///
/// @return CURLE_OK to continue
static CURLcode wait_for_network(const struct parts *parts, const struct sluice_attach_exchange *exchange, int64_t end) {
  const int64_t left = end - now_milliseconds();
  if (sluice_attach_is_stopped(exchange->stop)) return CURLE_ABORTED_BY_CALLBACK;
  if (left <= 0) return CURLE_OPERATION_TIMEDOUT;
  const int slice = left < SLICE_MILLISECONDS ? (int)left : SLICE_MILLISECONDS;
  // curl_multi_poll is not used, because it reads from a descriptor whose number the program may have reused by now.
  // curl_multi_wait does not wait if it has no descriptor, so it gets the mark (see exchange_sockets.h).
  struct curl_waitfd mark = {.fd = parts->mark};
  return parts->curl->multi_wait(parts->multi, &mark, 1, slice, NULL) == CURLM_OK ? CURLE_OK : CURLE_FAILED_INIT;
}

static void run(const struct libcurl *curl, const struct sluice_attach_exchange *exchange,
                struct exchange_result *result) {
  struct parts parts = {.curl = curl, .mark = -1};
  const int64_t end = now_milliseconds() + exchange->limit_milliseconds;
  // A fork() waits for the lock `working` instead of this thread. Sanitizers ignore the handles: in a child of fork(),
  // nothing refers to them.
  gate_pause();
  sanitizer_ignore();
  pthread_mutex_lock(&working);
  const bool is_ready = keep(curl);
  CURLcode code = is_ready ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
  bool is_over = !is_ready || !open_parts(&parts, exchange, result);
  while (!is_over && !(is_over = advance(&parts, &code))) {
    pthread_mutex_unlock(&working);
    const CURLcode waited = wait_for_network(&parts, exchange, end);
    pthread_mutex_lock(&working);
    is_over = waited != CURLE_OK || !exchange_sockets_has_mark(parts.mark);
    if (is_over) code = waited != CURLE_OK ? waited : CURLE_FAILED_INIT;
  }
  exchange_result_end(result, parts.easy, curl, code);
  close_parts(&parts);
  pthread_mutex_unlock(&working);
  sanitizer_heed();
  gate_resume();
}

void exchange_make(const struct sluice_attach_exchange *exchange, struct sluice_attach_exchanged *exchanged) {
  const struct libcurl *curl = atomic_load_explicit(&used, memory_order_acquire);
  *exchanged = (struct sluice_attach_exchanged){.code = CURLE_FAILED_INIT};
  if (atomic_load(&has_own_memory)) {
    exchanged->reason = text("the program gives libcurl its own memory functions");
  } else if (!curl) {
    exchanged->reason = text("the program's libcurl lacks functions");
  } else {
    struct exchange_result *result = exchange_result_make();
    if (result) run(curl, exchange, result);
    if (result) exchange_result_show(result, exchanged);
    else exchanged->code = CURLE_OUT_OF_MEMORY;
  }
}

void exchange_release(struct sluice_attach_exchanged *exchanged) {
  exchange_result_free(exchanged->memory);
  *exchanged = (struct sluice_attach_exchanged){0};
}

// MARK: fork()

bool exchange_lock(const struct timespec *until) {
  return pthread_mutex_clocklock(&working, CLOCK_MONOTONIC, until) == 0;
}

void exchange_unlock(void) { pthread_mutex_unlock(&working); }

void exchange_forget_all(bool is_locked) {
  if (is_locked) {
    exchange_sockets_close();
    pthread_mutex_unlock(&working);
  } else {
    pthread_mutex_init(&working, NULL);
  }
}
