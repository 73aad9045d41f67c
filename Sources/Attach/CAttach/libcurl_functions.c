// The functions of a libcurl, by their names.
#define _GNU_SOURCE
#include "glibc.h"
#include "libcurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// MARK: Functions by name

#define FUNCTION(member) {"curl_" #member, offsetof(struct libcurl, member)}

static const struct {
  const char *name;
  size_t offset;
} functions[] = {
    FUNCTION(easy_init), FUNCTION(easy_setopt), FUNCTION(easy_getinfo), FUNCTION(easy_perform),
    FUNCTION(easy_reset), FUNCTION(easy_duphandle), FUNCTION(easy_cleanup), FUNCTION(easy_nextheader),
    FUNCTION(easy_strerror), FUNCTION(easy_pause), FUNCTION(multi_init), FUNCTION(multi_setopt),
    FUNCTION(multi_perform), FUNCTION(multi_socket), FUNCTION(multi_socket_action), FUNCTION(multi_socket_all),
    FUNCTION(multi_wait), FUNCTION(multi_poll), FUNCTION(multi_timeout), FUNCTION(multi_add_handle),
    FUNCTION(multi_remove_handle), FUNCTION(multi_info_read), FUNCTION(multi_cleanup), FUNCTION(global_init),
    FUNCTION(global_init_mem), FUNCTION(slist_append), FUNCTION(slist_free_all), FUNCTION(url), FUNCTION(url_dup),
    FUNCTION(url_get), FUNCTION(url_set), FUNCTION(url_cleanup), FUNCTION(free), FUNCTION(version_info)};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

void *libcurl_function(const struct libcurl *curl, const char *name) {
  void *function = NULL;
  for (size_t index = 0; index < FUNCTIONS; index++)
    if (strcmp(functions[index].name, name) == 0)
      memcpy(&function, (const char *)curl + functions[index].offset, sizeof function);
  return function;
}

void libcurl_fill(struct libcurl *curl, void *(*find)(const void *source, const char *name), const void *source) {
  for (size_t index = 0; index < FUNCTIONS; index++) {
    void *function = find(source, functions[index].name);
    memcpy((char *)curl + functions[index].offset, &function, sizeof function);
  }
  curl->is_complete = curl->easy_setopt && curl->easy_getinfo && curl->easy_nextheader && curl->easy_strerror &&
                      curl->easy_cleanup && curl->version_info && curl->url && curl->url_dup && curl->url_get &&
                      curl->url_set && curl->url_cleanup && curl->free;
}

// MARK: A libcurl by itself

static void *find_in(const void *library, const char *name) { return glibc_dlsym((void *)(uintptr_t)library, name); }

bool libcurl_read(struct libcurl *curl, const struct link_map *object) {
  // For glibc, a link map is a handle. The library can be in another namespace than this one.
  Lmid_t namespace = LM_ID_BASE;
  if (dlinfo((void *)(uintptr_t)object, RTLD_DI_LMID, &namespace) != 0) return false;
  void *library = dlmopen(namespace, object->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return false;
  const int kept = errno;
  libcurl_fill(curl, find_in, library);
  curl->is_elsewhere = namespace != LM_ID_BASE;
  errno = kept;
  dlerror();
  return true;
}
