#include "changes.h"

#include "request.h"

#include <stdlib.h>
#include <string.h>

/// Makes the list that libcurl reads, in one block of memory.
static struct curl_slist *make_lines(const struct sluice_attach_answer *answer) {
  size_t bytes = 0;
  for (size_t index = 0; index < answer->line_count; index++) bytes += answer->lines[index].length + 1;
  struct curl_slist *nodes = malloc(answer->line_count * sizeof *nodes + bytes);
  if (!nodes) return NULL;
  char *end = (char *)(nodes + answer->line_count);
  for (size_t index = 0; index < answer->line_count; index++) {
    const struct sluice_attach_text line = answer->lines[index];
    memcpy(end, line.bytes, line.length);
    end[line.length] = 0;
    nodes[index] = (struct curl_slist){.data = end, .next = index + 1 < answer->line_count ? &nodes[index + 1] : NULL};
    end += line.length + 1;
  }
  return nodes;
}

/// Libcurl does not copy a list: the old one must live until libcurl has the new one.
static bool set_lines(
    struct changes *changes, const struct handle *handle, const struct sluice_attach_answer *answer) {
  struct curl_slist *lines = answer->line_count > 0 ? make_lines(answer) : NULL;
  if (answer->line_count > 0 && !lines) return false;
  if (handle->curl->easy_setopt(handle->easy, CURLOPT_HTTPHEADER, lines) != CURLE_OK) {
    free(lines);
    return false;
  }
  free(changes->lines);
  changes->lines = lines;
  changes->has_new_lines = true;
  return true;
}

void changes_restore_lines(struct changes *changes, const struct handle *handle) {
  if (!changes->has_new_lines) return;
  handle->curl->easy_setopt(handle->easy, CURLOPT_HTTPHEADER, handle->options.headers);
  free(changes->lines);
  changes->lines = NULL;
  changes->has_new_lines = false;
}

/// A program may have set both a URL and a parsed URL: libcurl prefers the parsed one.
static bool set_url(struct changes *changes, const struct handle *handle, const char *url) {
  changes->has_new_url = true;
  const struct libcurl *curl = handle->curl;
  if (handle->options.parsed_url && curl->easy_setopt(handle->easy, CURLOPT_CURLU, NULL) != CURLE_OK) return false;
  return curl->easy_setopt(handle->easy, CURLOPT_URL, url) == CURLE_OK;
}

static void restore_url(const struct changes *changes, const struct handle *handle) {
  const struct options *options = &handle->options;
  if (!changes->has_new_url) return;
  handle->curl->easy_setopt(handle->easy, CURLOPT_URL, options->url);
  if (options->parsed_url) handle->curl->easy_setopt(handle->easy, CURLOPT_CURLU, options->parsed_url);
}

/// If a body in memory is set, libcurl makes a POST of any request. So the name of the original method is set, too.
static bool set_body(struct changes *changes, const struct handle *handle, struct sluice_attach_text content) {
  const struct libcurl *curl = handle->curl;
  const struct options *options = &handle->options;
  changes->has_new_body = true;
  if (options->kind == REQUEST_PUT) curl->easy_setopt(handle->easy, CURLOPT_UPLOAD, 0L);
  if (options->kind != REQUEST_POST && !changes->has_new_method) {
    changes->has_new_method = true;
    if (curl->easy_setopt(handle->easy, CURLOPT_CUSTOMREQUEST, request_method(options)) != CURLE_OK) return false;
  }
  return curl->easy_setopt(handle->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)content.length) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_COPYPOSTFIELDS, content.bytes) == CURLE_OK;
}

/// The size must be set before the body: libcurl copies the body at once, and as many bytes as the size option then
/// says.
static void restore_content(const struct handle *handle) {
  const struct options *options = &handle->options;
  const struct libcurl *curl = handle->curl;
  if (options->copied_content) {
    curl->easy_setopt(handle->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)options->copied_length);
    curl->easy_setopt(handle->easy, CURLOPT_COPYPOSTFIELDS, options->copied_content);
  } else {
    curl->easy_setopt(handle->easy, CURLOPT_POSTFIELDS, options->content);
  }
  curl->easy_setopt(handle->easy, CURLOPT_POSTFIELDSIZE_LARGE, options->content_length);
}

static void restore_body(const struct changes *changes, const struct handle *handle) {
  const struct options *options = &handle->options;
  const struct libcurl *curl = handle->curl;
  if (!changes->has_new_body) return;
  restore_content(handle);
  switch (options->kind) {
    case REQUEST_GET: curl->easy_setopt(handle->easy, CURLOPT_HTTPGET, 1L); break;
    case REQUEST_HEAD: curl->easy_setopt(handle->easy, CURLOPT_NOBODY, 1L); break;
    case REQUEST_PUT: curl->easy_setopt(handle->easy, CURLOPT_UPLOAD, 1L); break;
    case REQUEST_POST: break;
    case REQUEST_POST_FORM:
      if (options->mime) curl->easy_setopt(handle->easy, CURLOPT_MIMEPOST, options->mime);
      else curl->easy_setopt(handle->easy, CURLOPT_HTTPPOST, options->form);
  }
}

bool changes_apply(
    struct changes *changes, const struct handle *handle, const struct sluice_attach_answer *answer) {
  const struct libcurl *curl = handle->curl;
  if (answer->changes & SLUICE_ATTACH_NEW_URL && !set_url(changes, handle, answer->url.bytes)) return false;
  if (answer->changes & SLUICE_ATTACH_NEW_METHOD) {
    changes->has_new_method = true;
    if (curl->easy_setopt(handle->easy, CURLOPT_CUSTOMREQUEST, answer->method.bytes) != CURLE_OK) return false;
  }
  if (answer->changes & SLUICE_ATTACH_NEW_BODY && !set_body(changes, handle, answer->content)) return false;
  return !(answer->changes & SLUICE_ATTACH_NEW_LINES) || set_lines(changes, handle, answer);
}

void changes_restore(struct changes *changes, const struct handle *handle) {
  changes_restore_lines(changes, handle);
  restore_url(changes, handle);
  restore_body(changes, handle);
  if (changes->has_new_method)
    handle->curl->easy_setopt(handle->easy, CURLOPT_CUSTOMREQUEST, handle->options.custom_method);
  *changes = (struct changes){0};
}
