// Tests callbacks that call libcurl. They set options and read facts of the running handle, and make transfers on other
// handles.
#include "client.h"

static CURL *outer;
static const char *base;
static int depth;
static struct curl_slist *first, *second;

static size_t nest(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  long status = 0;
  char *url = NULL;
  curl_easy_getinfo(outer, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(outer, CURLINFO_EFFECTIVE_URL, &url);
  printf("in the callback: %ld %s\n", status, strrchr(url, '/'));
  printf("again on the same handle: %d\n", (int)curl_easy_perform(outer));
  if (depth++ == 0) {
    CURL *inner = open_client(base, "/inner");
    perform(inner);
    curl_easy_cleanup(inner);
  }
  return fwrite(bytes, size, count, stdout);
}

/// Replaces the list of headers between the hops of a redirect, and frees the previous list.
static size_t exchange(char *line, size_t size, size_t count, void *context) {
  (void)context;
  if (first && size * count > 9 && strncmp(line, "Location:", 9) == 0) {
    second = curl_slist_append(NULL, "X-Hop: second");
    curl_easy_setopt(outer, CURLOPT_HTTPHEADER, second);
    curl_slist_free_all(first);
    first = NULL;
  }
  return size * count;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  base = words[1];
  outer = open_client(base, "/outer");
  curl_easy_setopt(outer, CURLOPT_WRITEFUNCTION, nest);
  perform(outer);
  curl_easy_cleanup(outer);

  outer = open_client(base, "/redirect");
  first = curl_slist_append(NULL, "X-Hop: first");
  curl_easy_setopt(outer, CURLOPT_HTTPHEADER, first);
  curl_easy_setopt(outer, CURLOPT_HEADERFUNCTION, exchange);
  curl_easy_setopt(outer, CURLOPT_FOLLOWLOCATION, 1L);
  perform(outer);
  perform(outer);
  curl_easy_cleanup(outer);
  curl_slist_free_all(second);
  return 0;
}
