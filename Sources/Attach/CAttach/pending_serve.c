// Gives libcurl the pending handles whose stages have decided.
#include "pending_parts.h"
#include "transfer.h"

/// Notes that libcurl did not accept the handle. The program learns this from curl_multi_info_read.
static void report(struct handle *handle, CURLcode code) {
  handle->pending = PENDING_REPORT;
  handle->message = (CURLMsg){.msg = CURLMSG_DONE, .easy_handle = handle->easy, .data = {.result = code}};
}

/// Gives libcurl a handle if its stages have decided.
static void serve(struct multi *known, struct handle *handle) {
  if (handle->pending != PENDING_STAGE && handle->pending != PENDING_CALLBACK) return;
  switch (transfer_go_on(handle, false)) {
    case TRANSFER_WAITS: return;
    case TRANSFER_FAILED: return report(handle, CURLE_OUT_OF_MEMORY);
    case TRANSFER_READY: break;
  }
  handle->pending = PENDING_CALLBACK;
  const CURLMcode code = known->curl->multi_add_handle(known->multi, handle->easy);
  if (code == CURLM_OK) pending_unlink(known, handle);
  else if (code != CURLM_RECURSIVE_API_CALL)
    report(handle, code == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT);
}

void pending_serve(CURLM *multi) {
  struct multi *known = pending_find(multi);
  if (!known || known->is_busy) return;
  known->is_busy = true;
  for (struct handle *handle = known->first, *next; handle; handle = next) {
    next = handle->next_pending;
    serve(known, handle);
  }
  known->is_busy = false;
}
