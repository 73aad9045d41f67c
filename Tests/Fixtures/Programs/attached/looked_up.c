// Looks libcurl's functions up at run time: `looked_up MODE URL [LIBRARY]`. LIBRARY is a libcurl. MODE says where it
// looks: in a library that it opens, by version, in another namespace, or in the libraries of the program; or that it
// looks with functions that it has found in libc.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *version;

static void *(*find)(void *, const char *) = dlsym;
static void *(*find_version)(void *, const char *, const char *) = dlvsym;

static void *look_up(void *library, const char *name) {
  return version ? find_version(library, name, version) : find(library, name);
}

static void *open_library(const char *mode, const char *path) {
  if (strcmp(mode, "namespace") == 0) return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
  if (strncmp(mode, "default", 7) != 0 && strcmp(mode, "program") != 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  // The first two arguments of `default` say where to look, and the library only has to be there.
  dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  return strcmp(mode, "program") == 0 ? dlopen(NULL, RTLD_NOW) : RTLD_DEFAULT;
}

static size_t print(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  return fwrite(bytes, size, count, stdout);
}

static int run(void *library, const char *url) {
  CURL *(*init)(void) = (CURL * (*)(void)) look_up(library, "curl_easy_init");
  CURLcode (*set)(CURL *, CURLoption, ...) = (CURLcode(*)(CURL *, CURLoption, ...))look_up(library, "curl_easy_setopt");
  CURLcode (*perform)(CURL *) = (CURLcode(*)(CURL *))look_up(library, "curl_easy_perform");
  void (*end)(CURL *) = (void (*)(CURL *))look_up(library, "curl_easy_cleanup");
  curl_version_info_data *(*info)(CURLversion) =
      (curl_version_info_data * (*)(CURLversion)) look_up(library, "curl_version_info");
  if (!init || !set || !perform || !end || !info) {
    printf("nothing\n");
    return 0;
  }
  CURL *easy = init();
  (set)(easy, CURLOPT_URL, url);
  (set)(easy, CURLOPT_WRITEFUNCTION, print);
  printf("=> %d %.6s\n", (int)perform(easy), info(CURLVERSION_NOW)->ssl_version);
  end(easy);
  return 0;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  char url[512];
  snprintf(url, sizeof url, "%s/looked-up", words[2]);
  if (count == 3) return run(strcmp(words[1], "program") == 0 ? dlopen(NULL, RTLD_NOW) : RTLD_DEFAULT, url);
  const char *colon = strchr(words[1], ':');
  version = colon ? colon + 1 : NULL;
  if (strncmp(words[1], "libc", 4) == 0) {
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    find = (void *(*)(void *, const char *))dlsym(libc, "dlsym");
    find_version = (void *(*)(void *, const char *, const char *))dlsym(libc, "dlvsym");
  }
  for (int index = 3; index < count; index++) {
    void *library = open_library(words[1], words[index]);
    if (!library && strncmp(words[1], "default", 7) != 0) printf("%s\n", dlerror());
    else run(library, url);
  }
  return 0;
}
