// Makes a transfer for each line that it reads, so that a test can change the configuration or the plugin between two
// transfers.
#include "client.h"

int main(int count, char **words) {
  char line[64];
  CURL *easy = open_client(words[count - 1], "/line");
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) perform(easy);
  curl_easy_cleanup(easy);
  return 0;
}
