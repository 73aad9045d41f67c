// Makes one transfer in a multi handle: `deadline URL HOW`. Prints the code and the text of the error.
#include "client.h"

#include <poll.h>
#include <sys/select.h>

static long timeout = -1;

static int set_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi, (void)context;
  timeout = milliseconds;
  return 0;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
  (void)easy, (void)socket, (void)what, (void)context, (void)known;
  return 0;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  const char *how = words[2];
  CURLM *multi = curl_multi_init();
  CURL *easy = open_client(words[1], "");
  char error[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
  if (strcmp(how, "events") == 0) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
  }
  curl_multi_add_handle(multi, easy);
  for (int running = 1; running > 0;) {
    long limit = 20000;
    if (strcmp(how, "poll") == 0) curl_multi_poll(multi, NULL, 0, 20000, NULL);
    else if (strcmp(how, "wait") == 0) curl_multi_wait(multi, NULL, 0, 20000, NULL);
    else if (strcmp(how, "select") == 0) curl_multi_timeout(multi, &limit), poll(NULL, 0, limit < 0 ? 20 : (int)limit);
    else poll(NULL, 0, timeout < 0 || timeout > 20 ? 20 : (int)timeout);
    if (strcmp(how, "events") == 0) curl_multi_socket_all(multi, &running);
    else curl_multi_perform(multi, &running);
  }
  const CURLMsg *message = curl_multi_info_read(multi, &(int){0});
  if (message) printf("=> %d %s\n", (int)message->data.result, error);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  return 0;
}
