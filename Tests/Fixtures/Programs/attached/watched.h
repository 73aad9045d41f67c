// The sockets that libcurl asks a program with its own event loop to watch.
#ifndef WATCHED_H
#define WATCHED_H
#include <curl/curl.h>
#include <poll.h>

static struct pollfd watched[128];
static int watched_count;

/// For CURLMOPT_SOCKETFUNCTION.
static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
  (void)easy, (void)context, (void)known;
  int place = 0;
  while (place < watched_count && watched[place].fd != socket) place++;
  if (what == CURL_POLL_REMOVE) {
    if (place < watched_count) watched[place] = watched[--watched_count];
    return 0;
  }
  if (place == watched_count) watched_count++;
  watched[place] = (struct pollfd){.fd = socket};
  if (what & CURL_POLL_IN) watched[place].events |= POLLIN;
  if (what & CURL_POLL_OUT) watched[place].events |= POLLOUT;
  return 0;
}

#endif
