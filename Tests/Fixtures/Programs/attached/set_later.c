// Sets options in the header callback, when a certain line arrives. The next hop must have them.
#include "client.h"

#include <strings.h>

static CURL *easy;
static struct curl_slist *lines;
/// The beginning of the line at which the callback acts, and what it does.
static const char *mark;
static enum { AGENT, LINES, COOKIE, METHOD, LIMIT, PORT, REFUSE, PAUSE, NOTHING } action;

static size_t act(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  const size_t length = size * count;
  const int is_meant = *mark ? length >= strlen(mark) && strncasecmp(bytes, mark, strlen(mark)) == 0 : length <= 2;
  const int what = is_meant ? (int)action : (int)NOTHING;
  if (is_meant) action = NOTHING;
  switch (what) {
    case AGENT: curl_easy_setopt(easy, CURLOPT_USERAGENT, "later"); break;
    case LINES: curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines); break;
    case COOKIE: curl_easy_setopt(easy, CURLOPT_COOKIE, "later=1"); break;
    case METHOD: curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PATCH"); break;
    case LIMIT: curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 0L); break;
    case PORT: curl_easy_setopt(easy, CURLOPT_INTERFACE, "no.such.interface"); break;
    case REFUSE: return 0;
    case PAUSE: return CURL_WRITEFUNC_PAUSE;
    default: break;
  }
  return fwrite(bytes, size, count, stdout);
}

static CURL *begin(const char *url, const char *path, const char *at, int what) {
  printf("-- %s at \"%s\": %d\n", path, at, what);
  mark = at;
  action = what;
  easy = open_client(url, path);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, act);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_USERPWD, "me:pw");
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_DIGEST);
  return easy;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  lines = curl_slist_append(NULL, "X-Own: later");
  const char *const marks[] = {"HTTP/", "Location:", "WWW-", "Content-Length", ""};
  const char *const paths[] = {"/to-echo", "/digest-echo", "/twice"};
  for (size_t path = 0; path < sizeof paths / sizeof *paths; path++)
    for (size_t at = 0; at < sizeof marks / sizeof *marks; at++)
      for (int what = AGENT; what <= REFUSE; what++) {
        // At a challenge, options for the connection take effect one hop later. An answered challenge with another
        // method would break a rule of the event log.
        if (path == 1 && (what == LIMIT || what == PORT || what == METHOD)) continue;
        begin(words[1], paths[path], marks[at], what);
        perform(easy);
        curl_easy_cleanup(easy);
      }
  CURLM *multi = curl_multi_init();
  begin(words[1], "/to-echo", "Location:", PAUSE);
  curl_multi_add_handle(multi, easy);
  for (int running = 1, turns = 0; running && turns < 10000; turns++) {
    curl_multi_perform(multi, &running);
    curl_easy_pause(easy, CURLPAUSE_CONT);
    if (running) curl_multi_poll(multi, NULL, 0, 2, NULL);
  }
  curl_multi_cleanup(multi);
  curl_easy_cleanup(easy);
  curl_slist_free_all(lines);
  return 0;
}
