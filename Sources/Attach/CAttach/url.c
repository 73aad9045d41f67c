// Stages decide by the host of a URL whether a header is sent. Two parsers can find different hosts in an unusual URL.
// So every URL that is not plain is read with libcurl's own parser.
#define _GNU_SOURCE
#include "url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_http(const char *url) {
  return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

/// Whether the URL is plain: it has no user and no brackets, and its host has no character that parsers read in
/// different ways.
static bool is_plain(const char *url) {
  if (!is_http(url)) return false;
  const char *host = strstr(url, "//") + 2;
  const char *end = host;
  while (isalnum((unsigned char)*end) || *end == '-' || *end == '.') end++;
  if (end == host) return false;
  if (*end == ':')
    for (end++; isdigit((unsigned char)*end);) end++;
  return *end == 0 || *end == '/' || *end == '?' || *end == '#';
}

/// Whether the URL begins with a scheme, a colon and a slash, by libcurl's rule.
static bool has_scheme(const char *url) {
  const char *end = url;
  if (!isalpha((unsigned char)*end)) return false;
  while (isalnum((unsigned char)*end) || *end == '+' || *end == '-' || *end == '.') end++;
  return end[0] == ':' && end[1] == '/';
}

static CURLUcode set(const struct handle *handle, CURLU *parsed, const char *url) {
  const struct options *options = &handle->options;
  const unsigned flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME;
  if (!options->default_protocol || has_scheme(url)) return handle->curl->url_set(parsed, CURLUPART_URL, url, flags);
  char *completed = NULL;
  if (asprintf(&completed, "%s://%s", options->default_protocol, url) < 0) return CURLUE_OUT_OF_MEMORY;
  const CURLUcode code = handle->curl->url_set(parsed, CURLUPART_URL, completed, flags);
  free(completed);
  return code;
}

static CURLUcode set_port(const struct handle *handle, CURLU *parsed) {
  if (handle->options.port == 0) return CURLUE_OK;
  char port[32];
  snprintf(port, sizeof port, "%ld", handle->options.port);
  return handle->curl->url_set(parsed, CURLUPART_PORT, port, 0);
}

static CURLU *open_parser(const struct handle *handle) {
  const struct options *options = &handle->options;
  return options->parsed_url ? handle->curl->url_dup(options->parsed_url) : handle->curl->url();
}

static enum url_kind parse(char **url, const struct handle *handle) {
  const struct libcurl *curl = handle->curl;
  CURLU *parsed = open_parser(handle);
  if (!parsed) return URL_UNREADABLE;
  char *text = NULL;
  CURLUcode code = handle->options.parsed_url ? CURLUE_OK : set(handle, parsed, handle->options.url);
  if (code == CURLUE_OK) code = set_port(handle, parsed);
  if (code == CURLUE_OK) code = curl->url_get(parsed, CURLUPART_URL, &text, 0);
  curl->url_cleanup(parsed);
  if (code != CURLUE_OK) return code == CURLUE_OUT_OF_MEMORY ? URL_UNREADABLE : URL_INVALID;
  const bool is_for_stages = is_http(text);
  if (is_for_stages) *url = strdup(text);
  curl->free(text);
  if (!is_for_stages) return URL_OTHER_PROTOCOL;
  return *url ? URL_HTTP : URL_UNREADABLE;
}

enum url_kind url_read(char **url, const struct handle *handle) {
  const struct options *options = &handle->options;
  *url = NULL;
  if (!options->url && !options->parsed_url) return URL_INVALID;
  if (options->parsed_url || options->port != 0 || !is_plain(options->url)) return parse(url, handle);
  *url = strdup(options->url);
  return *url ? URL_HTTP : URL_UNREADABLE;
}

bool url_is_refused(const struct handle *handle) {
  char *url = NULL;
  const enum url_kind kind = parse(&url, handle);
  free(url);
  return kind == URL_INVALID;
}
