// A program with its own pre-request callback, which later also aborts a transfer.
#include "client.h"

static int calls;

static int note(void *context, char *peer, char *local, int peer_port, int local_port) {
  (void)local, (void)local_port;
  printf("pre-request %d from %s, %s\n", ++calls, peer, peer_port > 0 ? "with a port" : "without a port");
  return *(int *)context;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  int answer = CURL_PREREQFUNC_OK;
  CURL *easy = open_client(words[1], "/redirect");
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, note);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &answer);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  perform(easy);
  answer = CURL_PREREQFUNC_ABORT;
  const CURLcode code = perform(easy);
  puts(reason);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, NULL);
  perform(easy);
  curl_easy_cleanup(easy);
  return (int)code;
}
