// Follows libcurl's rules about options that reset other options (CURLOPT_HTTPGET, CURLOPT_NOBODY and so on).
#define _GNU_SOURCE
#include "handle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void replace(struct options *options, char **kept, const char *value) {
  free(*kept);
  *kept = value ? strdup(value) : NULL;
  if (value && !*kept) options->is_incomplete = true;
}

static void drop_copy(struct options *options) {
  free(options->copied_content);
  options->copied_content = NULL;
  options->copied_length = 0;
}

static void copy_content(struct options *options, const void *value) {
  drop_copy(options);
  options->content = NULL;
  options->kind = REQUEST_POST;
  if (!value) return;
  const size_t length = options->content_length < 0 ? strlen(value) : (size_t)options->content_length;
  char *copy = malloc(length + 1);
  if (!copy) options->is_incomplete = true;
  if (!copy) return;
  memcpy(copy, value, length);
  copy[length] = 0;
  options->copied_content = copy;
  options->copied_length = length;
}

/// Notes the length of the body. If libcurl's copy of the body is shorter than this length, libcurl drops its copy, so
/// the noted copy is dropped too.
static void set_content_length(struct options *options, curl_off_t length) {
  if (options->copied_content && options->content_length < length) drop_copy(options);
  options->content_length = length;
}

static void set_kind(struct options *options, bool is_on, enum request_kind kind) {
  if (is_on) options->kind = kind;
  else if (options->kind == kind || kind == REQUEST_PUT) options->kind = REQUEST_GET;
}

void options_note(struct options *options, CURLoption option, void *value) {
  const bool is_on = value != NULL;
  switch ((int)option) {
    case CURLOPT_URL: replace(options, &options->url, value); break;
    case CURLOPT_CURLU: options->parsed_url = value; break;
    case CURLOPT_PORT: options->port = (long)(intptr_t)value; break;
    case CURLOPT_CONNECT_ONLY: options->is_connection_only = (intptr_t)value == 1; break;
    case CURLOPT_DEFAULT_PROTOCOL: replace(options, &options->default_protocol, value); break;
    case CURLOPT_HTTPHEADER: options->headers = value; break;
    case CURLOPT_CUSTOMREQUEST: replace(options, &options->custom_method, value); break;
    case CURLOPT_USERAGENT: replace(options, &options->user_agent, value); break;
    case CURLOPT_COOKIE: replace(options, &options->cookie, value); break;
    case CURLOPT_REFERER: replace(options, &options->referer, value); break;
    case CURLOPT_RANGE: replace(options, &options->range, value); break;
    case CURLOPT_ACCEPT_ENCODING: replace(options, &options->encoding, value); break;
    case CURLOPT_USERPWD:
    case CURLOPT_USERNAME: options->has_user = is_on; break;
    case CURLOPT_XOAUTH2_BEARER: options->has_bearer = is_on; break;
    case CURLOPT_HTTPGET:
      if (is_on) options->kind = REQUEST_GET;
      break;
    case CURLOPT_POST: options->kind = is_on ? REQUEST_POST : REQUEST_GET; break;
    case CURLOPT_NOBODY: set_kind(options, is_on, REQUEST_HEAD); break;
    case CURLOPT_UPLOAD:
    case CURLOPT_PUT: set_kind(options, is_on, REQUEST_PUT); break;
    case CURLOPT_HTTPPOST:
      options->form = value;
      options->mime = NULL;
      options->kind = REQUEST_POST_FORM;
      break;
    case CURLOPT_MIMEPOST:
      options->mime = value;
      options->form = NULL;
      options->kind = REQUEST_POST_FORM;
      break;
    case CURLOPT_POSTFIELDS:
      drop_copy(options);
      options->content = value;
      options->kind = REQUEST_POST;
      break;
    case CURLOPT_COPYPOSTFIELDS: copy_content(options, value); break;
    case CURLOPT_POSTFIELDSIZE:
    case CURLOPT_POSTFIELDSIZE_LARGE: set_content_length(options, (curl_off_t)(intptr_t)value); break;
    case CURLOPT_PREREQFUNCTION: options->pre_request = (curl_prereq_callback)value; break;
    case CURLOPT_PREREQDATA: options->pre_request_data = value; break;
    case CURLOPT_WRITEFUNCTION: options->write_function = (curl_write_callback)value; break;
    case CURLOPT_WRITEDATA:
      options->write_data = value;
      options->has_write_data = true;
      break;
    case CURLOPT_HEADERFUNCTION: options->header_function = (curl_write_callback)value; break;
    case CURLOPT_HEADERDATA: options->header_data = value; break;
    case CURLOPT_HEADER: options->includes_heads = is_on; break;
    case CURLOPT_FOLLOWLOCATION: options->follows_redirects = is_on; break;
    case CURLOPT_ERRORBUFFER: options->error_buffer = value; break;
    default: break;
  }
}

#define COPIES(options)                                                                              \
  {&(options)->url,     &(options)->custom_method, &(options)->user_agent, &(options)->cookie,       \
   &(options)->referer, &(options)->range,         &(options)->encoding,   &(options)->default_protocol}

void options_clear(struct options *options) {
  char **const copies[] = COPIES(options);
  for (size_t index = 0; index < sizeof copies / sizeof *copies; index++) free(*copies[index]);
  drop_copy(options);
  *options = (struct options){.content_length = -1};
}

void options_copy(struct options *options, const struct options *from) {
  *options = *from;
  char **const copies[] = COPIES(options);
  for (size_t index = 0; index < sizeof copies / sizeof *copies; index++) {
    if (!*copies[index]) continue;
    *copies[index] = strdup(*copies[index]);
    if (!*copies[index]) options->is_incomplete = true;
  }
  if (!from->copied_content) return;
  options->copied_content = malloc(from->copied_length + 1);
  if (options->copied_content) memcpy(options->copied_content, from->copied_content, from->copied_length + 1);
  else options->is_incomplete = true;
}
