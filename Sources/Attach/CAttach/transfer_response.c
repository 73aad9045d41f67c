// Runs the response stages of a transfer and applies their decision.
#include "facts.h"
#include "session.h"
#include "transfer_parts.h"

#include <errno.h>

struct reply *transfer_reply(struct handle *handle) { return handle->transfer ? &handle->transfer->reply : NULL; }

bool transfer_is_refused(const struct handle *handle) { return handle->transfer && handle->transfer->refusal; }

bool transfer_refuse(struct handle *handle, const char *message) {
  if (!handle->transfer->is_given_up) transfer_set_refusal(handle->transfer, message);
  return !handle->transfer->refusal;
}

bool transfer_give_up(struct handle *handle) {
  if (!handle->transfer->is_given_up) transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_NO_PLAN);
  return !handle->transfer->refusal;
}

bool transfer_receive(
    struct handle *handle, const struct sluice_attach_text *lines, size_t count, struct sluice_attach_answer *answer) {
  struct transfer *transfer = handle->transfer;
  if (transfer->is_given_up) return true;
  const struct sluice_attach_host *host =
      transfer->generation == session_generation() ? session_enter_again() : NULL;
  if (!host) {
    transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_FORKED);
    return !transfer->refusal;
  }
  struct sluice_attach_facts facts = {0};
  long status = 0;
  handle->curl->easy_getinfo(handle->easy, CURLINFO_RESPONSE_CODE, &status);
  facts_read(&facts, handle);
  const struct sluice_attach_head head = {
      .status = (int32_t)status, .lines = lines, .line_count = count, .facts = &facts};
  host->receive(transfer->attached, &head, answer);
  session_leave();
  if (answer->outcome == SLUICE_ATTACH_REFUSE) transfer_set_refusal(transfer, answer->message.bytes);
  return answer->outcome != SLUICE_ATTACH_REFUSE;
}
