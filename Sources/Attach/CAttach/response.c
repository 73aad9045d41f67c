#include "response.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

void response_read_status(struct response *response, const struct handle *handle) {
  long status = 0;
  handle->curl->easy_getinfo(handle->easy, CURLINFO_RESPONSE_CODE, &status);
  *response = (struct response){.form = {.status = (int32_t)status}};
}

void response_read(struct response *response, const struct handle *handle, int number) {
  const struct libcurl *curl = handle->curl;
  response_read_status(response, handle);
  size_t room = 0, count = 0;
  struct curl_header *header = NULL;
  while ((header = curl->easy_nextheader(handle->easy, CURLH_HEADER, number, header))) {
    if (count == room) {
      room = room ? 2 * room : 16;
      struct sluice_attach_text *longer = realloc(response->fields, room * 2 * sizeof *longer);
      // A head with missing fields would mislead stages.
      if (!longer) count = 0;
      if (!longer) break;
      response->fields = longer;
    }
    response->fields[2 * count] = text(header->name);
    response->fields[2 * count + 1] = text(header->value);
    count++;
  }
  response->form.fields = response->fields;
  response->form.field_count = count;
}

void response_free(struct response *response) {
  free(response->fields);
  *response = (struct response){0};
}
