// A program that receives the head and the body of responses in many ways, and also stops or pauses transfers.
#include "client.h"

static CURL *easy;
static int pauses, refuses_at, line_count;

static size_t print_line(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  printf("[%d bytes] ", (int)(size * count));
  fwrite(bytes, size, count, stdout);
  return ++line_count == refuses_at ? 0 : size * count;
}

static size_t pause_once_for_each_line(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  if (pauses++ % 2 == 0) return CURL_WRITEFUNC_PAUSE;
  return fwrite(bytes, size, count, stdout);
}

static size_t pause_every_second_body(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  if (pauses++ % 2 == 0) return CURL_WRITEFUNC_PAUSE;
  return fwrite(bytes, size, count, stdout);
}

/// Calls libcurl functions that a program must not call in a callback, and prints what they return.
static size_t call_back(char *bytes, size_t size, size_t count, void *multi) {
  (void)bytes;
  printf("%d ", curl_multi_remove_handle(multi, easy));
  printf("%d ", curl_multi_add_handle(multi, easy));
  printf("%d ", curl_multi_cleanup(multi));
  printf("%d ", (int)curl_easy_perform(easy));
  printf("%d\n", curl_multi_info_read(multi, &(int){0}) != NULL);
  return size * count;
}

/// When the head has arrived, chooses where the body is written.
static size_t choose(char *bytes, size_t size, size_t count, void *context) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (size * count <= 2) curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  printf("%ld ", status);
  return fwrite(bytes, size, count, stdout);
}

static void print_file(FILE *file) {
  char text[8192];
  rewind(file);
  for (size_t count; (count = fread(text, 1, sizeof text, file)) > 0;) fwrite(text, 1, count, stdout);
  fclose(file);
}

static void begin(const char *url, const char *path) {
  printf("-- %s\n", path);
  line_count = refuses_at = pauses = 0;
  easy = open_client(url, path);
}

static void end(void) {
  perform(easy);
  curl_easy_cleanup(easy);
  fflush(stdout);
}

static void print_lines(const char *url, const char *path) {
  begin(url, path);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, print_line);
}

/// Runs a transfer to its end, and unpauses it whenever it is paused.
static void perform_paused(CURLM *multi) {
  for (int running = 1, turns = 0; running && turns < 10000; turns++) {
    curl_multi_perform(multi, &running);
    curl_easy_pause(easy, CURLPAUSE_CONT);
    if (running) curl_multi_poll(multi, NULL, 0, 2, NULL);
  }
  printf("nothing runs\n");
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &(int){0}));)
    printf("done => %d\n", (int)message->data.result);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  const char *url = words[1];
  const char *const paths[] = {"/plain", "/empty", "/none", "/missing", "/big", "/trailer", "/long", "/odd"};
  for (size_t index = 0; index < sizeof paths / sizeof *paths; index++) {
    print_lines(url, paths[index]);
    end();
  }
  print_lines(url, "/redirect");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  end();
  print_lines(url, "/redirect");
  end();
  print_lines(url, "/loop");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 2L);
  end();
  print_lines(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  end();
  print_lines(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_HEADER, 1L);
  end();
  print_lines(url, "/missing");
  curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
  end();
  print_lines(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "a=1");
  end();
  print_lines(url, "/empty");
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "a=1");
  end();
  print_lines(url, "/digest");
  curl_easy_setopt(easy, CURLOPT_USERPWD, "me:pw");
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_DIGEST);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "a=1");
  end();
  print_lines(url, "/digest");
  curl_easy_setopt(easy, CURLOPT_USERPWD, "me:pw");
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_ANY);
  end();
  // Libcurl sends a first request without the body. It delivers only the trailers of the response to this request.
  print_lines(url, "/trailer");
  curl_easy_setopt(easy, CURLOPT_USERPWD, "me:pw");
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_DIGEST);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "a=1");
  end();

  // Transfers for which some callbacks or files are not set.
  begin(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &easy);
  end();
  FILE *bodies = tmpfile(), *heads = tmpfile();
  begin(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, bodies);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, heads);
  end();
  print_file(heads);
  print_file(bodies);
  begin(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, NULL);
  fflush(stdout);
  end();
  begin(url, "/plain");
  FILE *chosen = tmpfile();
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, choose);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, chosen);
  end();
  print_file(chosen);

  // Callbacks that refuse the status line, a field or the empty line.
  for (int line = 1; line <= 4; line++) {
    char words_of_error[CURL_ERROR_SIZE] = "";
    print_lines(url, "/plain");
    refuses_at = line;
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, words_of_error);
    end();
    printf("%s\n", words_of_error);
  }
  print_lines(url, "/empty");
  refuses_at = 2;
  end();

  // Transfers with a multi handle, and transfers that pause.
  CURLM *multi = curl_multi_init();
  print_lines(url, "/plain");
  curl_multi_add_handle(multi, easy);
  perform_paused(multi);
  begin(url, "/plain");
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, pause_once_for_each_line);
  curl_multi_add_handle(multi, easy);
  perform_paused(multi);
  print_lines(url, "/big");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, pause_every_second_body);
  curl_multi_add_handle(multi, easy);
  perform_paused(multi);
  print_lines(url, "/empty");
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "a=1");
  curl_multi_add_handle(multi, easy);
  perform_paused(multi);
  begin(url, "/empty");
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, call_back);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, multi);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "a=1");
  curl_multi_add_handle(multi, easy);
  perform_paused(multi);
  curl_multi_cleanup(multi);

  // Transfers with a reused handle, and with a copy of this handle.
  print_lines(url, "/plain");
  perform(easy);
  CURL *copy = curl_easy_duphandle(easy);
  perform(copy);
  curl_easy_cleanup(copy);
  curl_easy_reset(easy);
  char whole[512];
  snprintf(whole, sizeof whole, "%s/plain", url);
  curl_easy_setopt(easy, CURLOPT_URL, whole);
  end();
  return 0;
}
