// The program that scripts/measure-attach.sh runs with and without "sluice attach".
//
// usage: attach transfers URL COUNT      one handle, one transfer after the other: prints the processor time and the
//                                        elapsed time of one transfer, in microseconds
//        attach runs COUNT PROGRAM ARG…  one process after the other: prints the median and the lowest time of a run in
//                                        microseconds
#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  (void)context;
  return size * count;
}

static int transfers(const char *url, int count) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
  // The first transfers are not measured: they open the connection and the host library.
  for (int index = 0; index < 100; index++)
    if (curl_easy_perform(easy) != CURLE_OK) return 1;
  const double processor = now(CLOCK_PROCESS_CPUTIME_ID), time = now(CLOCK_MONOTONIC);
  for (int index = 0; index < count; index++)
    if (curl_easy_perform(easy) != CURLE_OK) return 1;
  printf("%.2f %.2f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - processor) / count, (now(CLOCK_MONOTONIC) - time) / count);
  curl_easy_cleanup(easy);
  return 0;
}

static int compare(const void *first, const void *second) {
  const double one = *(const double *)first, other = *(const double *)second;
  return (one > other) - (one < other);
}

static int runs(int count, char **words) {
  double *times = malloc((size_t)count * sizeof *times);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (int index = 0; index < count; index++) {
    const double began = now(CLOCK_MONOTONIC);
    pid_t process;
    int status = 1;
    if (posix_spawnp(&process, words[0], &actions, NULL, words, environ) != 0) return 1;
    if (waitpid(process, &status, 0) < 0 || status != 0) return 1;
    times[index] = now(CLOCK_MONOTONIC) - began;
  }
  qsort(times, (size_t)count, sizeof *times, compare);
  printf("%.0f %.0f\n", times[count / 2], times[0]);
  free(times);
  return 0;
}

int main(int count, char **words) {
  if (count == 4 && strcmp(words[1], "transfers") == 0) return transfers(words[2], atoi(words[3]));
  if (count > 3 && strcmp(words[1], "runs") == 0) return runs(atoi(words[2]), words + 3);
  fprintf(stderr, "usage: attach transfers URL COUNT | attach runs COUNT PROGRAM ARG...\n");
  return 2;
}
