// Uses libcurl only to connect, and speaks HTTP itself.
#include "client.h"

#include <poll.h>

int main(int count, char **words) {
  if (count < 2) return 2;
  CURL *easy = open_client(words[1], "/");
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  if (perform(easy) != CURLE_OK) return 1;
  const char request[] = "GET /by-hand HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  size_t length = 0;
  printf("sent: %d\n", (int)curl_easy_send(easy, request, sizeof request - 1, &length));
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
  char answer[16] = "";
  CURLcode code = CURLE_AGAIN;
  while (code == CURLE_AGAIN) {
    poll(&(struct pollfd){.fd = socket, .events = POLLIN}, 1, -1);
    code = curl_easy_recv(easy, answer, 12, &length);
  }
  printf("%d %.12s\n", (int)code, answer);
  curl_easy_cleanup(easy);
  return 0;
}
