// What the host learns about a transfer.
#include "facts.h"
#include "transfer_parts.h"

const struct sluice_attach_facts *transfer_facts(
    struct sluice_attach_facts *facts, const struct handle *handle) {
  if (!handle->transfer->wants_facts) return NULL;
  facts_read(facts, handle);
  return facts;
}

void transfer_read_response(struct response *response, const struct handle *handle, int number) {
  if (handle->transfer->wants_facts) response_read(response, handle, number);
  else response_read_status(response, handle);
}
