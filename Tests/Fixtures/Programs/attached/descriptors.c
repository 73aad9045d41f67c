// Closes, uses up or replaces its descriptors, as WHAT says, before it makes a transfer: `descriptors WHAT URL`.
#define _GNU_SOURCE
#include "client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/// A socket that is open before the descriptors run out.
static curl_socket_t give_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose, (void)address;
  return *(int *)context;
}

static void use_up(void) {
  const struct rlimit limit = {64, 64};
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY) >= 0) continue;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  const int is_used_up = strcmp(words[1], "used-up") == 0;
  int socket_of_first = socket(AF_INET, SOCK_STREAM, 0);
  if (strcmp(words[1], "closed") == 0) closefrom(3);
  if (strcmp(words[1], "replaced") == 0) {
    closefrom(3);
    // Opens other files, with numbers that other descriptors of the process might have had.
    for (int number = 3; number < 32; number++) open("/proc/self/maps", O_RDONLY);
  }
  CURL *easy = open_client(words[2], "/descriptors");
  if (is_used_up) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, give_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &socket_of_first);
    use_up();
  }
  perform(easy);
  if (is_used_up) {
    // Now descriptors are free again, and the connection of the first transfer is reused.
    closefrom(socket_of_first + 1);
    perform(easy);
  }
  curl_easy_cleanup(easy);
  return 0;
}
