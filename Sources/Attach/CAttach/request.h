#ifndef SLUICE_ATTACH_REQUEST_H
#define SLUICE_ATTACH_REQUEST_H
#include "CAttachABI.h"
#include "handle.h"
#include "url.h"

/// The request of a handle in the form that the host takes. It owns its memory; release it with `request_free`.
struct request {
  struct sluice_attach_request form;
  struct sluice_attach_text *lines;
  char *url;
  /// The memory of the lines that are made from options.
  char *text;
  struct sluice_attach_text made[8];
};

/// Reads the request that the options of a handle describe. The request must be freed only if the result is URL_HTTP.
enum url_kind request_read(struct request *request, const struct handle *handle);

/// Reads only the headers that the options describe now, for a hop.
bool request_read_headers(struct request *request, const struct handle *handle);

void request_free(struct request *request);

/// The method of the first request that libcurl sends.
const char *request_method(const struct options *options);

#endif
