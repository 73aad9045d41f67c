#include "exchange_result.h"

#include "facts.h"
#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct exchange_result {
  CURLcode code;
  char error[CURL_ERROR_SIZE];
  const char *words;
  char *body;
  size_t length, room, limit;
  bool is_too_long;
  long status;
  int32_t version;
  /// Names and values alternately. The characters follow in the same block of memory.
  struct sluice_attach_text *fields;
  size_t field_count;
};

struct exchange_result *exchange_result_make(void) { return calloc(1, sizeof(struct exchange_result)); }

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
  struct exchange_result *result = context;
  const size_t more = size * count;
  if (more > result->limit - result->length) {
    result->is_too_long = true;
    return 0;
  }
  if (more > result->room - result->length) {
    const size_t room = 2 * (result->length + more);
    char *longer = realloc(result->body, room);
    if (!longer) return 0;
    result->body = longer;
    result->room = room;
  }
  if (more > 0) memcpy(result->body + result->length, bytes, more);
  result->length += more;
  return more;
}

void exchange_result_receive(
    struct exchange_result *result, CURL *easy, const struct libcurl *curl, size_t limit_bytes) {
  result->limit = limit_bytes;
  curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
  curl->easy_setopt(easy, CURLOPT_WRITEDATA, result);
  curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, result->error);
}

/// Copies a string to `*place`, and moves `*place` behind the copy.
static struct sluice_attach_text copy(const char *string, char **place) {
  const size_t length = strlen(string);
  memcpy(*place, string, length + 1);
  const struct sluice_attach_text copied = {*place, length};
  *place += length + 1;
  return copied;
}

static bool copy_fields(struct exchange_result *result, CURL *easy, const struct libcurl *curl) {
  size_t count = 0, bytes = 0;
  struct curl_header *header = NULL;
  while ((header = curl->easy_nextheader(easy, CURLH_HEADER, -1, header))) {
    count++;
    bytes += strlen(header->name) + strlen(header->value) + 2;
  }
  result->fields = malloc(2 * count * sizeof *result->fields + bytes + 1);
  if (!result->fields) return false;
  char *place = (char *)(result->fields + 2 * count);
  while (result->field_count < count && (header = curl->easy_nextheader(easy, CURLH_HEADER, -1, header))) {
    result->fields[2 * result->field_count] = copy(header->name, &place);
    result->fields[2 * result->field_count + 1] = copy(header->value, &place);
    result->field_count++;
  }
  return true;
}

void exchange_result_end(struct exchange_result *result, CURL *easy, const struct libcurl *curl, CURLcode code) {
  result->code = result->is_too_long ? CURLE_FILESIZE_EXCEEDED : code;
  if (easy) {
    long version = 0;
    curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &result->status);
    curl->easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
    result->version = facts_http_version(version);
    if (code == CURLE_OK && !copy_fields(result, easy, curl)) result->code = CURLE_OUT_OF_MEMORY;
  }
  // This text belongs to libcurl, which stays mapped.
  result->words = result->code == CURLE_OK ? "" : curl->easy_strerror(result->code);
}

void exchange_result_show(struct exchange_result *result, struct sluice_attach_exchanged *exchanged) {
  const bool has_words = result->code != CURLE_OK && !result->is_too_long && result->error[0];
  *exchanged = (struct sluice_attach_exchanged){
      .code = (int32_t)result->code,
      .reason = text(has_words ? result->error : result->words),
      .response = {.status = (int32_t)result->status, .fields = result->fields, .field_count = result->field_count},
      .http_version = result->version,
      .content = {result->body, result->length},
      .memory = result};
}

void exchange_result_free(struct exchange_result *result) {
  if (!result) return;
  free(result->body);
  free(result->fields);
  free(result);
}
