// The beginning of a transfer: the request stages run, and libcurl gets their changes.
#include "exchange.h"
#include "gate.h"
#include "request.h"
#include "session.h"
#include "transfer_parts.h"

#include <errno.h>
#include <stdlib.h>

static struct transfer *open_transfer(struct handle *handle) {
  handle->transfer = calloc(1, sizeof *handle->transfer);
  if (handle->transfer) handle->transfer->generation = session_generation();
  return handle->transfer;
}

/// Applies the decision of the request stages, or notes that the transfer waits for it.
static void follow(struct handle *handle, const struct sluice_attach_answer *answer) {
  struct transfer *transfer = handle->transfer;
  transfer->is_waiting = answer->outcome == SLUICE_ATTACH_WAIT;
  transfer->wants_facts = answer->wants_facts;
  if (transfer->is_waiting) return;
  if (answer->outcome == SLUICE_ATTACH_REFUSE) return transfer_set_refusal(transfer, answer->message.bytes);
  session_count(SLUICE_ATTACH_COUNT_ATTACHED);
  const bool is_held = !answer->holds_response || reply_wrap(&transfer->reply, handle);
  if (is_held && transfer_watch_hops(handle) && changes_apply(&transfer->changes, handle, answer)) return;
  transfer_restore(handle);
  transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_NO_PLAN);
  if (transfer->refusal) transfer_watch_hops(handle);
}

/// Runs the request stages. If the transfer has neither `attached` nor `refusal` afterwards, the pipeline did not
/// accept the request.
static void attach(
    const struct sluice_attach_host *host, struct handle *handle, struct request *request, bool blocks) {
  struct sluice_attach_answer answer = {.outcome = SLUICE_ATTACH_PASS};
  handle->transfer->attached = host->begin(&request->form, blocks, &answer);
  if (answer.outcome != SLUICE_ATTACH_PASS) follow(handle, &answer);
}

/// Begins the transfer of a request in the host.
///
/// @return why the transfer has no pipeline; SLUICE_ATTACH_COUNTS if it has one
static enum sluice_attach_count attach_request(struct handle *handle, struct request *request, bool blocks) {
  enum sluice_attach_count reason = SLUICE_ATTACH_COUNT_NO_PLAN;
  const struct sluice_attach_host *host = session_enter(&reason);
  if (!host) return reason;
  exchange_use(handle->curl, session_calls_out());
  reason = SLUICE_ATTACH_COUNT_NO_PLAN;
  if (open_transfer(handle)) {
    attach(host, handle, request, blocks);
    const bool is_taken = handle->transfer->attached || handle->transfer->refusal;
    reason = is_taken ? SLUICE_ATTACH_COUNTS : SLUICE_ATTACH_COUNT_UNREADABLE;
    if (!is_taken) transfer_close(handle);
  }
  session_leave();
  return reason;
}

/// Lets libcurl make a transfer that has no HTTP URL, and watches that it sends no HTTP request.
///
/// @return `reason`, unless memory ran out
static enum sluice_attach_count watch(struct handle *handle, enum sluice_attach_count reason) {
  if (!open_transfer(handle)) return SLUICE_ATTACH_COUNT_NO_PLAN;
  handle->transfer->is_other_protocol = true;
  if (transfer_watch_hops(handle)) return reason;
  transfer_restore(handle);
  transfer_close(handle);
  return SLUICE_ATTACH_COUNT_NO_PLAN;
}

/// Whether a transfer without a pipeline must not run.
static bool needs_pipeline(enum sluice_attach_count reason) {
  return session_fails_without_pipeline() && reason != SLUICE_ATTACH_COUNTS &&
         reason != SLUICE_ATTACH_COUNT_OTHER_PROTOCOL;
}

static enum sluice_attach_count try_to_attach(struct handle *handle, bool blocks) {
  if (handle->curl->is_elsewhere) return SLUICE_ATTACH_COUNT_NAMESPACE;
  if (!handle->curl->is_complete) return SLUICE_ATTACH_COUNT_OLD_CURL;
  struct request request;
  switch (request_read(&request, handle)) {
    case URL_HTTP: break;
    case URL_OTHER_PROTOCOL: return watch(handle, SLUICE_ATTACH_COUNT_OTHER_PROTOCOL);
    case URL_CONNECTION: return SLUICE_ATTACH_COUNT_CONNECTION;
    case URL_INVALID: return watch(handle, SLUICE_ATTACH_COUNTS);
    case URL_UNREADABLE: return SLUICE_ATTACH_COUNT_UNREADABLE;
  }
  const enum sluice_attach_count reason = attach_request(handle, &request, blocks);
  request_free(&request);
  // Libcurl itself says what is wrong with a URL that it refuses.
  if (reason == SLUICE_ATTACH_COUNT_UNREADABLE && url_is_refused(handle)) return watch(handle, SLUICE_ATTACH_COUNTS);
  return reason;
}

/// @return false if the transfer must not run and there is no memory to say why
static bool begin(struct handle *handle, bool blocks) {
  // Transfers that a stage makes itself do not go through the pipeline.
  if (gate_is_inside()) return true;
  if (handle->transfer) transfer_end(handle, CURLE_OK, true);
  const enum sluice_attach_count reason = try_to_attach(handle, blocks);
  if (reason != SLUICE_ATTACH_COUNTS) session_count(reason);
  if (!needs_pipeline(reason)) return true;
  if (!open_transfer(handle)) return false;
  transfer_refuse_without_pipeline(handle->transfer, reason);
  return true;
}

CURLcode transfer_begin(struct handle *handle) {
  const int kept = errno;
  CURLcode code = begin(handle, true) ? CURLE_OK : CURLE_OUT_OF_MEMORY;
  if (handle->transfer && handle->transfer->refusal) {
    transfer_end(handle, CURLE_ABORTED_BY_CALLBACK, false);
    code = CURLE_ABORTED_BY_CALLBACK;
  }
  errno = kept;
  return code;
}

static enum transfer_start start_of(struct handle *handle) {
  const struct transfer *transfer = handle->transfer;
  if (transfer && transfer->is_waiting) return TRANSFER_WAITS;
  // A refused transfer needs the pre-request callback, because only this callback can make libcurl end the transfer
  // before it sends anything.
  return !transfer || !transfer->refusal || transfer_watch_hops(handle) ? TRANSFER_READY : TRANSFER_FAILED;
}

enum transfer_start transfer_begin_in_multi(struct handle *handle) {
  const int kept = errno;
  const enum transfer_start start = begin(handle, false) ? start_of(handle) : TRANSFER_FAILED;
  errno = kept;
  return start;
}

/// Called if the process was forked while a stage was suspended: the decision will not arrive in this process.
static void lose(struct handle *handle) {
  handle->transfer->attached = NULL;
  handle->transfer->is_waiting = false;
  session_count(SLUICE_ATTACH_COUNT_FORKED);
  if (session_fails_without_pipeline()) transfer_refuse_without_pipeline(handle->transfer, SLUICE_ATTACH_COUNT_FORKED);
  else transfer_close(handle);
}

enum transfer_start transfer_go_on(struct handle *handle, bool blocks) {
  struct transfer *transfer = handle->transfer;
  if (!transfer || !transfer->is_waiting) return start_of(handle);
  const int kept = errno;
  const struct sluice_attach_host *host =
      transfer->generation == session_generation() ? session_enter_again() : NULL;
  if (host) {
    struct sluice_attach_answer answer = {.outcome = SLUICE_ATTACH_WAIT};
    host->go_on(transfer->attached, blocks, &answer);
    follow(handle, &answer);
    session_leave();
  } else {
    lose(handle);
  }
  const enum transfer_start start = start_of(handle);
  errno = kept;
  return start;
}
