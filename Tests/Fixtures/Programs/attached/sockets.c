// A program with its own event loop. It uses curl_multi_socket_action with callbacks for sockets and the timer.
#include "client.h"
#include "watched.h"

enum { TRANSFERS = 20 };

static long timeout = -1;

static int set_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi, (void)context;
  timeout = milliseconds;
  return 0;
}

static void turn(CURLM *multi, int *running) {
  struct pollfd ready[128];
  memcpy(ready, watched, sizeof ready);
  const int count = watched_count;
  const int found = poll(ready, (nfds_t)count, (int)timeout);
  if (found == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, running);
  for (int index = 0; found > 0 && index < count; index++) {
    int events = 0;
    if (ready[index].revents & (POLLIN | POLLHUP | POLLERR)) events |= CURL_CSELECT_IN;
    if (ready[index].revents & POLLOUT) events |= CURL_CSELECT_OUT;
    if (events) curl_multi_socket_action(multi, ready[index].fd, events, running);
  }
}

int main(int count, char **words) {
  if (count < 2) return 2;
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
  FILE *bodies = tmpfile();
  for (int index = 0; index < TRANSFERS; index++) {
    CURL *easy = open_client(words[1], "/sockets");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, NULL);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, bodies);
    curl_multi_add_handle(multi, easy);
  }
  int running = 0, done = 0;
  curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
  while (running > 0) turn(multi, &running);
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &(int){0}));) {
    CURL *easy = message->easy_handle;
    printf("%d => %d\n", ++done, (int)message->data.result);
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
  }
  curl_multi_cleanup(multi);
  printf("%ld bytes\n", ftell(bodies));
  return 0;
}
