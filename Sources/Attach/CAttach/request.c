#include "request.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *request_method(const struct options *options) {
  if (options->custom_method) return options->custom_method;
  switch (options->kind) {
    case REQUEST_GET: return "GET";
    case REQUEST_HEAD: return "HEAD";
    case REQUEST_POST:
    case REQUEST_POST_FORM: return "POST";
    case REQUEST_PUT: return "PUT";
  }
  return "GET";
}

// MARK: Headers

static bool read_lines(struct request *request, const struct handle *handle) {
  size_t count = 0;
  for (const struct curl_slist *line = handle->options.headers; line; line = line->next) count++;
  request->lines = count ? malloc(count * sizeof *request->lines) : NULL;
  if (count && !request->lines) return false;
  size_t index = 0;
  for (const struct curl_slist *line = handle->options.headers; line; line = line->next)
    request->lines[index++] = text(line->data);
  request->form.lines = request->lines;
  request->form.line_count = count;
  return true;
}

/// Whether a URL contains a user: `http://user:password@host/`.
static bool names_user(const char *url) {
  const char *authority = url ? strstr(url, "://") : NULL;
  authority = authority ? authority + 3 : url;
  return authority && authority[strcspn(authority, "/?#@")] == '@';
}

static bool has_user(const struct handle *handle) {
  const struct options *options = &handle->options;
  if (options->has_user) return true;
  if (!options->parsed_url) return names_user(options->url);
  char *user = NULL;
  if (!handle->curl->url_get || !handle->curl->free) return false;
  if (handle->curl->url_get(options->parsed_url, CURLUPART_USER, &user, 0) != CURLUE_OK) return false;
  handle->curl->free(user);
  return true;
}

/// Libcurl makes these headers from options. Stages must see them, so that no header is sent twice. The values of
/// credentials are left out.
static bool read_made(struct request *request, const struct handle *handle) {
  const struct options *options = &handle->options;
  const struct {
    const char *name, *value;
  } made[] = {
      {"User-Agent", options->user_agent},
      {"Cookie", options->cookie},
      {"Referer", options->referer},
      {"Range", options->range},
      {"Accept-Encoding", options->encoding},
      {"Authorization", options->has_bearer ? "Bearer" : has_user(handle) ? "Basic" : NULL},
  };
  size_t length = 0;
  for (size_t index = 0; index < sizeof made / sizeof *made; index++)
    if (made[index].value && *made[index].value) length += strlen(made[index].name) + strlen(made[index].value) + 3;
  if (length == 0) return true;
  request->text = malloc(length);
  if (!request->text) return false;
  char *end = request->text;
  for (size_t index = 0; index < sizeof made / sizeof *made; index++) {
    if (!made[index].value || !*made[index].value) continue;
    const int written = sprintf(end, "%s: %s", made[index].name, made[index].value);
    request->made[request->form.made_count++] = (struct sluice_attach_text){end, (size_t)written};
    end += written + 1;
  }
  request->form.made = request->made;
  return true;
}

bool request_read_headers(struct request *request, const struct handle *handle) {
  return read_lines(request, handle) && read_made(request, handle);
}

// MARK: The body

static void read_body(struct sluice_attach_request *form, const struct options *options) {
  form->body = SLUICE_ATTACH_BODY_NONE;
  if (options->kind == REQUEST_PUT || options->kind == REQUEST_POST_FORM) form->body = SLUICE_ATTACH_BODY_STREAM;
  if (options->kind != REQUEST_POST) return;
  form->body = SLUICE_ATTACH_BODY_MEMORY;
  const char *content = options->copied_content ? options->copied_content : options->content;
  if (content) {
    const size_t length = options->content_length < 0 ? strlen(content) : (size_t)options->content_length;
    form->content = (struct sluice_attach_text){content, length};
  } else if (options->content_length != 0) {
    form->body = SLUICE_ATTACH_BODY_STREAM;
  }
}

enum url_kind request_read(struct request *request, const struct handle *handle) {
  *request = (struct request){0};
  if (handle->options.is_incomplete) return URL_UNREADABLE;
  const enum url_kind kind = url_read(&request->url, handle);
  if (kind != URL_HTTP) return kind;
  if (handle->options.is_connection_only) {
    request_free(request);
    return URL_CONNECTION;
  }
  request->form.method = text(request_method(&handle->options));
  request->form.url = text(request->url);
  read_body(&request->form, &handle->options);
  if (request_read_headers(request, handle)) return URL_HTTP;
  request_free(request);
  return URL_UNREADABLE;
}

void request_free(struct request *request) {
  free(request->url);
  free(request->lines);
  free(request->text);
  *request = (struct request){0};
}
