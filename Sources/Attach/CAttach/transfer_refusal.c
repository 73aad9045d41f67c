// Why a transfer must not send anything, or has no pipeline.
#define _GNU_SOURCE
#include "session.h"
#include "transfer_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The message if there is no memory for a better one, so that a refusal is never lost.
static char short_refusal[] = "sluice: a stage ended the transfer";

void transfer_drop_refusal(struct transfer *transfer) {
  if (transfer->refusal != short_refusal) free(transfer->refusal);
  transfer->refusal = NULL;
}

void transfer_set_refusal(struct transfer *transfer, const char *message) {
  transfer_drop_refusal(transfer);
  transfer->refusal = message && *message ? strdup(message) : short_refusal;
  if (!transfer->refusal) transfer->refusal = short_refusal;
}

/// The reason why a transfer has no pipeline, for an error message.
static const char *text_of(enum sluice_attach_count reason) {
  switch (reason) {
    case SLUICE_ATTACH_COUNT_NO_HOST: return "the library of the pipeline could not be opened";
    case SLUICE_ATTACH_COUNT_SMALL_STACK: return "there was no memory for a stack";
    case SLUICE_ATTACH_COUNT_FOREIGN_JSON: return "the program exports functions named like those of libjansson";
    case SLUICE_ATTACH_COUNT_FORKED: return "the process was forked while the pipeline was in use";
    case SLUICE_ATTACH_COUNT_OLD_CURL: return "libcurl is older than 7.83";
    case SLUICE_ATTACH_COUNT_UNREADABLE: return "Sluice does not accept the URL or the request";
    case SLUICE_ATTACH_COUNT_NAMESPACE: return "the program has opened libcurl with dlmopen";
    case SLUICE_ATTACH_COUNT_CONNECTION: return "the program uses the connection itself (CURLOPT_CONNECT_ONLY)";
    default: return "the plan could not be read or used, or memory ran out";
  }
}

void transfer_refuse_without_pipeline(struct transfer *transfer, enum sluice_attach_count reason) {
  char message[CURL_ERROR_SIZE];
  snprintf(
      message, sizeof message, "sluice: the transfer has no pipeline: %s; attach.onMissing is \"fail\"",
      text_of(reason));
  transfer_set_refusal(transfer, message);
}

void transfer_tell(struct handle *handle, const char *message) {
  char *buffer = handle->options.error_buffer;
  if (buffer) snprintf(buffer, CURL_ERROR_SIZE, "%s", message);
}

void transfer_lose_pipeline(struct handle *handle, enum sluice_attach_count reason) {
  session_count(reason);
  if (session_fails_without_pipeline()) return transfer_refuse_without_pipeline(handle->transfer, reason);
  handle->transfer->is_given_up = true;
  changes_restore_lines(&handle->transfer->changes, handle);
}
