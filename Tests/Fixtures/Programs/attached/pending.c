// Makes several transfers at once, some of which a stage holds back: `pending URL HOW`. HOW is the function with which
// the program waits: poll, wait, select or events.
//
// A request for /held waits until there is a request for /release. A request for /never waits forever.
#define _GNU_SOURCE
#include "client.h"
#include "watched.h"

#include <errno.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *url, *how;
static CURLM *multi;
static int running, done_count;

// MARK: A loop of its own

static int calls;
static long timeout = -1;
static pthread_t own;

static int set_timer(CURLM *of, long milliseconds, void *context) {
  if (of != multi || context != &timeout) printf("a timer with other arguments\n");
  if (!pthread_equal(pthread_self(), own) || calls == 0) printf("a timer outside of the program's calls\n");
  timeout = milliseconds;
  return 0;
}

static void act(curl_socket_t socket, int events) {
  calls++;
  curl_multi_socket_action(multi, socket, events, &running);
  calls--;
}

static void turn_events(void) {
  struct pollfd ready[64];
  memcpy(ready, watched, sizeof ready);
  const int count = watched_count;
  // Without an armed timer, a program would sleep forever.
  const int found = poll(ready, (nfds_t)count, timeout < 0 ? 20000 : (int)timeout);
  if (found == 0 && timeout < 0) printf("no timer\n");
  if (found == 0) {
    timeout = -1;
    act(CURL_SOCKET_TIMEOUT, 0);
  }
  for (int index = 0; found > 0 && index < count; index++) {
    int events = 0;
    if (ready[index].revents & (POLLIN | POLLHUP | POLLERR)) events |= CURL_CSELECT_IN;
    if (ready[index].revents & POLLOUT) events |= CURL_CSELECT_OUT;
    if (events) act(ready[index].fd, events);
  }
}

// MARK: Other ways

static void turn_select(void) {
  fd_set in, out, bad;
  int highest = -1;
  long limit = -1;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_ZERO(&bad);
  curl_multi_fdset(multi, &in, &out, &bad, &highest);
  curl_multi_timeout(multi, &limit);
  if (limit < 0 || limit > 20000) limit = 20000;
  struct timeval time = {limit / 1000, limit % 1000 * 1000};
  select(highest + 1, &in, &out, &bad, &time);
  curl_multi_perform(multi, &running);
}

static void turn(void) {
  if (strcmp(how, "events") == 0) return turn_events();
  if (strcmp(how, "select") == 0) return turn_select();
  int ready = 0;
  if (strcmp(how, "poll") == 0) curl_multi_poll(multi, NULL, 0, 20000, &ready);
  else curl_multi_wait(multi, NULL, 0, 20000, &ready);
  curl_multi_perform(multi, &running);
}

static void report(void) {
  int left = 0;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
    char *path = NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &path);
    printf("%s is done => %d\n", path, (int)message->data.result);
    done_count++;
    curl_multi_remove_handle(multi, message->easy_handle);
    curl_easy_cleanup(message->easy_handle);
  }
}

/// Runs until this many transfers have ended since the beginning.
static void run_until(int count) {
  for (int turns = 0; done_count < count && turns < 100000; turns++) {
    turn();
    report();
  }
}

static CURLMcode include(CURL *easy) {
  calls++;
  const CURLMcode code = curl_multi_add_handle(multi, easy);
  calls--;
  return code;
}

static CURLMcode exclude(CURL *easy) {
  calls++;
  const CURLMcode code = curl_multi_remove_handle(multi, easy);
  calls--;
  return code;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static CURL *add(const char *path) {
  CURL *easy = open_client(url, path);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, path);
  const CURLMcode code = include(easy);
  if (code != CURLM_OK) printf("%s is not added: %d\n", path, code);
  return easy;
}

static void open_multi(void) {
  multi = curl_multi_init();
  if (strcmp(how, "events") != 0) return;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &timeout);
}

static void print_running(void) {
  if (strcmp(how, "events") == 0) act(CURL_SOCKET_TIMEOUT, 0);
  else curl_multi_perform(multi, &running);
  printf("running: %d\n", running);
}

static void *run_in_thread(void *unused) {
  CURLM *other = curl_multi_init();
  CURL *easy = open_client(url, "/never");
  curl_multi_add_handle(other, easy);
  int count = 0;
  curl_multi_perform(other, &count);
  printf("running in another thread: %d\n", count);
  curl_multi_remove_handle(other, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(other);
  return unused;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  url = words[1];
  how = words[2];
  own = pthread_self();
  open_multi();

  // A transfer that begins later does not delay the others.
  add("/held");
  print_running();
  add("/fast");
  run_until(1);
  add("/release");
  run_until(3);
  print_running();
  add("/early");
  run_until(4);

  // The stage of a transfer fails after it has suspended.
  add("/refused");
  add("/release");
  run_until(6);

  // Uses a handle whose transfer is held back: removes it, resets it, cleans it up, and so on.
  CURL *easy = add("/never");
  CURLM *second = curl_multi_init();
  printf("added twice: %d\n", include(easy));
  printf("added elsewhere: %d\n", curl_multi_add_handle(second, easy));
  printf("removed elsewhere: %d\n", curl_multi_remove_handle(second, easy));
  printf("performed: %d\n", (int)curl_easy_perform(easy));
  printf("removed: %d\n", exclude(easy));
  printf("removed twice: %d\n", exclude(easy));
  print_running();
  printf("added again: %d\n", include(easy));
  curl_easy_cleanup(easy);
  print_running();
  easy = add("/never");
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, "a handle that was reset");
  run_until(7);
  easy = add("/never");
  CURL *copy = curl_easy_duphandle(easy);
  char whole[512];
  snprintf(whole, sizeof whole, "%s/fast", url);
  curl_easy_setopt(copy, CURLOPT_URL, whole);
  perform(copy);
  curl_easy_cleanup(copy);
  pthread_t thread;
  pthread_create(&thread, NULL, run_in_thread, NULL);
  pthread_join(thread, NULL);
  fflush(stdout);

  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    copy = open_client(url, "/fast");
    printf("in a child: %d", (int)curl_easy_perform(copy));
    done_count = 0;
    run_until(1);
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  printf("the child ended with %d\n", status);

  printf("cleaned up: %d\n", curl_multi_cleanup(multi));
  curl_easy_setopt(easy, CURLOPT_URL, whole);
  perform(easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(second);
  return 0;
}
