// Performs the action that each line of its input names, so that a test can do something between two actions:
// `call_outs URL [late|memory]`.
//
//   get      a transfer
//   many     three transfers at once
//   fork     a child makes a transfer and exits
//   descend  a child makes a transfer, and a child of that child makes another
//   close    closes every descriptor that the program does not know, and opens files in their places
//   end      ends the use of libcurl
//   leave    ends the main thread; another one makes a transfer afterwards
//
// With "late", a transfer is made while the process ends; with "memory", libcurl has memory functions of the program.
#define _GNU_SOURCE
#include "client.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *url;
static int files[700];
static size_t file_count;

static int get(const char *path) {
  CURL *easy = open_client(url, path);
  const CURLcode code = perform(easy);
  curl_easy_cleanup(easy);
  fflush(stdout);
  return (int)code;
}

static int many(void) {
  CURLM *multi = curl_multi_init();
  CURL *easy[3];
  char paths[3][16];
  for (int index = 0; index < 3; index++) {
    snprintf(paths[index], sizeof paths[index], "/many/%d", index);
    easy[index] = open_client(url, paths[index]);
    // The bodies are not printed, because their order is not always the same.
    curl_easy_setopt(easy[index], CURLOPT_NOBODY, 1L);
    curl_multi_add_handle(multi, easy[index]);
  }
  int running = 0, done = 0, left = 0;
  do {
    curl_multi_perform(multi, &running);
    while (curl_multi_info_read(multi, &left)) done++;
    if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  } while (running > 0);
  for (int index = 0; index < 3; index++) {
    curl_multi_remove_handle(multi, easy[index]);
    curl_easy_cleanup(easy[index]);
  }
  curl_multi_cleanup(multi);
  printf("%d done\n", done);
  fflush(stdout);
  return 0;
}

/// The number of open descriptors with a number of 512 or more. Call-outs use descriptors in this range.
static int high_descriptors(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *entry; (entry = readdir(folder));) count += atoi(entry->d_name) >= 512;
  closedir(folder);
  return count;
}

static int in_child(int depth) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    // A child that hangs must not block the test.
    alarm(100);
    printf("%d descriptors of the parent's call-outs\n", high_descriptors());
    int code = get(depth == 1 ? "/child" : "/grandchild");
    if (depth > 1) code |= in_child(depth - 1);
    exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("the child ended with %x\n", (unsigned)status);
  fflush(stdout);
  return status;
}

static int open_file(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

static int close_all(void) {
  DIR *folder = opendir("/proc/self/fd");
  const int own = dirfd(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    const int number = atoi(entry->d_name);
    if (number > 2 && number != own) close(number);
  }
  closedir(folder);
  for (file_count = 0; file_count < sizeof files / sizeof *files; file_count++) files[file_count] = open_file();
  return 0;
}

/// This exit handler was registered before the first transfer, so it runs after the handlers that were registered
/// later.
static void look(void) {
  size_t good = 0;
  struct stat status;
  for (size_t index = 0; index < file_count; index++)
    good += fstat(files[index], &status) == 0 && S_ISCHR(status.st_mode);
  if (file_count > 0) printf("%zu of %zu files are still open\n", good, file_count);
}

static void transfer_late(void) { get("/late"); }

static void *get_after(void *thread) {
  pthread_join(*(pthread_t *)thread, NULL);
  get("/after");
  return NULL;
}

static void leave(void) {
  static pthread_t own;
  pthread_t other;
  own = pthread_self();
  pthread_create(&other, NULL, get_after, &own);
  pthread_detach(other);
  pthread_exit(NULL);
}

// MARK: Memory

static void *allocate(size_t size) { return malloc(size); }
static void release(void *memory) { free(memory); }
static void *resize(void *memory, size_t size) { return realloc(memory, size); }
static char *duplicate(const char *string) { return strdup(string); }
static void *clear(size_t count, size_t size) { return calloc(count, size); }

int main(int count, char **words) {
  if (count < 2) return 2;
  url = words[1];
  const char *how = count > 2 ? words[2] : "";
  if (strcmp(how, "memory") == 0) curl_global_init_mem(CURL_GLOBAL_ALL, allocate, release, resize, duplicate, clear);
  else curl_global_init(CURL_GLOBAL_ALL);
  atexit(look);
  if (strcmp(how, "late") == 0) atexit(transfer_late);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    if (strcmp(line, "get\n") == 0) get("/get");
    else if (strcmp(line, "many\n") == 0) many();
    else if (strcmp(line, "fork\n") == 0) in_child(1);
    else if (strcmp(line, "descend\n") == 0) in_child(2);
    else if (strcmp(line, "close\n") == 0) close_all();
    else if (strcmp(line, "end\n") == 0) curl_global_cleanup();
    else if (strcmp(line, "leave\n") == 0) leave();
    else return 3;
    printf("did %s", line);
    fflush(stdout);
  }
  return 0;
}
