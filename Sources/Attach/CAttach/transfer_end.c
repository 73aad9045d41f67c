// The end of a transfer: the program gets what is held of the response, the host learns the result, and libcurl gets the
// program's settings again.
#define _GNU_SOURCE
#include "session.h"
#include "text.h"
#include "transfer_parts.h"

#include <errno.h>
#include <stdlib.h>

void transfer_close(struct handle *handle) {
  struct transfer *transfer = handle->transfer;
  handle->transfer = NULL;
  transfer_drop_refusal(transfer);
  free(transfer->changes.lines);
  reply_free(&transfer->reply);
  free(transfer);
}

// MARK: The held response

bool transfer_has_whole_head(const struct handle *handle) {
  return handle->transfer && !handle->transfer->refusal && handle->transfer->reply.state == REPLY_WHOLE;
}

void transfer_settle_head(struct handle *handle) {
  const int kept = errno;
  reply_settle_whole(&handle->transfer->reply, handle);
  errno = kept;
}

CURLcode transfer_settle(struct handle *handle, CURLcode code) {
  if (!handle->transfer) return code;
  const int kept = errno;
  const CURLcode settled = handle->transfer->refusal ? code : reply_settle(&handle->transfer->reply, handle, code);
  if (settled == CURLE_WRITE_ERROR && code != settled) transfer_tell(handle, "Failed writing header");
  errno = kept;
  return handle->transfer->refusal ? CURLE_ABORTED_BY_CALLBACK : settled;
}

// MARK: The result

/// Libcurl's message about the end of a transfer. The program's error buffer is not read for a cancelled transfer,
/// because libcurl has not written to it.
static const char *reason_of(const struct handle *handle, CURLcode code, bool is_cancelled) {
  const char *buffer = is_cancelled ? NULL : handle->options.error_buffer;
  if (code == CURLE_OK) return "";
  return buffer && *buffer ? buffer : handle->curl->easy_strerror(code);
}

static void end_attached(struct handle *handle, CURLcode code, bool is_cancelled) {
  struct transfer *transfer = handle->transfer;
  if (!transfer->attached || transfer->generation != session_generation()) return;
  const struct sluice_attach_host *host = session_enter_again();
  if (!host) return;
  struct response response = {0};
  struct sluice_attach_facts facts;
  transfer_read_response(&response, handle, transfer->next_response);
  const struct sluice_attach_end end = {
      .code = (int32_t)code, .reason = text(reason_of(handle, code, is_cancelled)), .response = &response.form,
      .is_cancelled = is_cancelled, .facts = transfer_facts(&facts, handle)};
  host->end(transfer->attached, &end);
  response_free(&response);
  session_leave();
}

void transfer_end(struct handle *handle, CURLcode code, bool is_cancelled) {
  struct transfer *transfer = handle->transfer;
  if (!transfer) return;
  const int kept = errno;
  if (transfer->refusal) session_count(SLUICE_ATTACH_COUNT_REFUSED);
  if (transfer->refusal && !is_cancelled) transfer_tell(handle, transfer->refusal);
  end_attached(handle, code, is_cancelled);
  transfer_restore(handle);
  transfer_close(handle);
  errno = kept;
}

void transfer_abandon(struct handle *handle) {
  struct transfer *transfer = handle->transfer;
  if (!transfer) return;
  const struct sluice_attach_host *host =
      transfer->attached && transfer->generation == session_generation() ? session_enter_again() : NULL;
  if (host) {
    const struct sluice_attach_end end = {.is_cancelled = true};
    host->end(transfer->attached, &end);
    session_leave();
  }
  transfer_close(handle);
}
