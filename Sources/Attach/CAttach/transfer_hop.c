// The hops of a transfer: the issue stages run before libcurl builds the request of a hop.
#include "facts.h"
#include "request.h"
#include "session.h"
#include "text.h"
#include "transfer_parts.h"

#include <errno.h>

static void describe_later_hop(struct sluice_attach_hop *hop, struct response *previous, const struct handle *handle) {
  char *url = NULL, *method = NULL;
  session_count(SLUICE_ATTACH_COUNT_HOPS);
  handle->curl->easy_getinfo(handle->easy, CURLINFO_EFFECTIVE_URL, &url);
  handle->curl->easy_getinfo(handle->easy, CURLINFO_EFFECTIVE_METHOD, &method);
  transfer_read_response(previous, handle, handle->transfer->next_response++);
  hop->url = text(url);
  hop->method = text(method);
  hop->previous = &previous->form;
}

/// Runs the issue stages of a hop, and tells them about the previous hop.
static void issue(const struct sluice_attach_host *host, struct handle *handle) {
  struct transfer *transfer = handle->transfer;
  struct request request = {0};
  if (!request_read_headers(&request, handle)) {
    request_free(&request);
    return transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_NO_PLAN);
  }
  struct response previous = {0};
  struct sluice_attach_facts facts;
  struct sluice_attach_hop hop = {.request = &request.form, .facts = transfer_facts(&facts, handle)};
  if (transfer->hops > 0) describe_later_hop(&hop, &previous, handle);
  transfer->hops++;
  struct sluice_attach_answer answer = {.outcome = SLUICE_ATTACH_PROCEED};
  host->issue(transfer->attached, &hop, &answer);
  if (answer.outcome == SLUICE_ATTACH_REFUSE) transfer_set_refusal(transfer, answer.message.bytes);
  else if (!reply_expect(&transfer->reply, handle))
    transfer_set_refusal(transfer, "sluice: libcurl sent another request after the response");
  else if (!changes_apply(&transfer->changes, handle, &answer)) transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_NO_PLAN);
  response_free(&previous);
  request_free(&request);
}

static void prepare_hop(struct handle *handle) {
  struct transfer *transfer = handle->transfer;
  if (!reply_give_before_hop(&transfer->reply, handle)) return;
  if (transfer->refusal || transfer->is_given_up) return;
  if (transfer->is_other_protocol && facts_speak_http(handle))
    return transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_UNREADABLE);
  if (!transfer->attached) return;
  const struct sluice_attach_host *host =
      transfer->generation == session_generation() ? session_enter_again() : NULL;
  if (host) {
    issue(host, handle);
    session_leave();
  } else {
    // Headers that stages have set for the previous hop must not go to the origin of this hop.
    changes_restore_lines(&transfer->changes, handle);
    if (transfer->reply.is_wrapped) transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_FORKED);
  }
}

/// Libcurl calls this function for each hop when the connection is established, before it builds the request. A list of
/// headers that this function sets is used for this hop.
///
/// @param easy the handle for which this callback was set, even if libcurl calls it for a pushed response, whose handle
/// has a copy of the setting
static int pre_request(void *easy, char *peer, char *local, int peer_port, int local_port) {
  struct handle *handle = handle_find(easy);
  if (!handle) return CURL_PREREQFUNC_OK;
  if (handle->transfer) {
    const int kept = errno;
    prepare_hop(handle);
    errno = kept;
    if (handle->transfer->refusal || handle->transfer->reply.is_failed) return CURL_PREREQFUNC_ABORT;
  }
  const struct options *options = &handle->options;
  if (!options->pre_request) return CURL_PREREQFUNC_OK;
  return options->pre_request(options->pre_request_data, peer, local, peer_port, local_port);
}

bool transfer_watch_hops(struct handle *handle) {
  const struct libcurl *curl = handle->curl;
  return curl->easy_setopt(handle->easy, CURLOPT_PREREQFUNCTION, pre_request) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_PREREQDATA, handle->easy) == CURLE_OK;
}
