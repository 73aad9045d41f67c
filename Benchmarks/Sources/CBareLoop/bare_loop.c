#define _GNU_SOURCE
#include "bare_loop.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DESCRIPTORS = 65536, BATCH = 256 };

struct bare_loop {
  int poll;
  int connections;
  long to_start;
  long running;
  long failed;
  CURLM *multi;
  CURL **easy;
  struct curl_slist *headers;
  // The time at which libcurl must be called next, in nanoseconds; 0 means never.
  uint64_t deadline;
  uint32_t registered[MAX_DESCRIPTORS];
  uint32_t wanted[MAX_DESCRIPTORS];
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t discard(char *data, size_t size, size_t count, void *context) {
  (void)data;
  (void)context;
  return size * count;
}

static void set_interest(bare_loop *loop, int descriptor, uint32_t interest) {
  if (loop->registered[descriptor] == interest) return;
  struct epoll_event event = {.events = interest, .data.fd = descriptor};
  int operation = interest == 0 ? EPOLL_CTL_DEL : loop->registered[descriptor] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  epoll_ctl(loop->poll, operation, descriptor, &event);
  loop->registered[descriptor] = interest;
}

static int on_socket(CURL *easy, curl_socket_t descriptor, int what, void *context, void *unused) {
  (void)easy;
  (void)unused;
  bare_loop *loop = context;
  if (descriptor < 0 || descriptor >= MAX_DESCRIPTORS) return 0;
  uint32_t interest = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) interest |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) interest |= EPOLLOUT;
  loop->wanted[descriptor] = interest;
  // Input stays registered between two requests, which saves one or two calls of epoll_ctl for each request.
  if (what == CURL_POLL_REMOVE) interest = loop->registered[descriptor] & EPOLLIN;
  set_interest(loop, descriptor, interest);
  return 0;
}

static int on_close(void *context, curl_socket_t descriptor) {
  bare_loop *loop = context;
  if (descriptor < MAX_DESCRIPTORS) loop->registered[descriptor] = loop->wanted[descriptor] = 0;
  return close(descriptor);
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi;
  bare_loop *loop = context;
  loop->deadline = milliseconds < 0 ? 0 : now() + (uint64_t)milliseconds * 1000000u;
  return 0;
}

static CURL *make_easy(bare_loop *loop, const bare_loop_options *options) {
  CURL *easy = curl_easy_init();
  if (!easy) return NULL;
  curl_easy_setopt(easy, CURLOPT_URL, options->url);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, loop->headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, loop);
  if (options->ca) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(options->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    if (options->http2) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  }
  return easy;
}

bare_loop *bare_loop_create(const bare_loop_options *options) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  bare_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->poll = epoll_create1(EPOLL_CLOEXEC);
  loop->connections = options->connections;
  loop->multi = curl_multi_init();
  loop->easy = calloc((size_t)options->connections, sizeof *loop->easy);
  if (loop->poll < 0 || !loop->multi || !loop->easy) {
    bare_loop_destroy(loop);
    return NULL;
  }
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
  curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)options->connections * 2);
  for (int index = 0; index < options->header_count; index++)
    loop->headers = curl_slist_append(loop->headers, options->headers[index]);
  for (int index = 0; index < options->connections; index++) loop->easy[index] = make_easy(loop, options);
  return loop;
}

static void start(bare_loop *loop, CURL *easy) {
  loop->to_start--;
  loop->running++;
  curl_multi_add_handle(loop->multi, easy);
}

static void take_finished(bare_loop *loop) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(loop->multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *easy = message->easy_handle;
    if (message->data.result != CURLE_OK) loop->failed++;
    curl_multi_remove_handle(loop->multi, easy);
    loop->running--;
    if (loop->to_start > 0) start(loop, easy);
  }
}

static int sleep_time(const bare_loop *loop) {
  if (loop->deadline == 0) return -1;
  uint64_t time = now();
  return time >= loop->deadline ? 0 : (int)((loop->deadline - time + 999999u) / 1000000u);
}

static void dispatch(bare_loop *loop, const struct epoll_event *event) {
  int running;
  int descriptor = event->data.fd;
  uint32_t wanted = loop->wanted[descriptor];
  // libcurl waits for no event of this descriptor. If the descriptor stayed registered, epoll would permanently report
  // an idle connection that the peer has closed.
  if (wanted == 0) return set_interest(loop, descriptor, 0);
  uint32_t ready = event->events & (EPOLLERR | EPOLLHUP) ? wanted : event->events & wanted;
  int mask = (ready & EPOLLIN ? CURL_CSELECT_IN : 0) | (ready & EPOLLOUT ? CURL_CSELECT_OUT : 0);
  curl_multi_socket_action(loop->multi, descriptor, mask, &running);
}

long bare_loop_run(bare_loop *loop, long requests) {
  loop->to_start = requests;
  loop->failed = 0;
  for (int index = 0; index < loop->connections && loop->to_start > 0; index++) start(loop, loop->easy[index]);
  struct epoll_event events[BATCH];
  while (loop->running > 0) {
    int count = epoll_wait(loop->poll, events, BATCH, sleep_time(loop));
    for (int index = 0; index < count; index++) dispatch(loop, &events[index]);
    if (loop->deadline != 0 && now() >= loop->deadline) {
      int running;
      loop->deadline = 0;
      curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    take_finished(loop);
  }
  return loop->failed;
}

void bare_loop_destroy(bare_loop *loop) {
  if (!loop) return;
  for (int index = 0; loop->easy && index < loop->connections; index++) curl_easy_cleanup(loop->easy[index]);
  if (loop->multi) curl_multi_cleanup(loop->multi);
  curl_slist_free_all(loop->headers);
  if (loop->poll >= 0) close(loop->poll);
  free(loop->easy);
  free(loop);
}
