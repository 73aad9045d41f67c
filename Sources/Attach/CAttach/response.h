#ifndef SLUICE_ATTACH_RESPONSE_H
#define SLUICE_ATTACH_RESPONSE_H
#include "CAttachABI.h"
#include "handle.h"

/// The head of a response. It is read from libcurl's memory, so that the program's callbacks need not be replaced.
struct response {
  struct sluice_attach_response form;
  struct sluice_attach_text *fields;
};

/// Reads the response to a hop, whose number counts from 0. The status is 0 without a response.
void response_read(struct response *response, const struct handle *handle, int number);

/// Reads only the status of the last response.
void response_read_status(struct response *response, const struct handle *handle);

void response_free(struct response *response);

#endif
