#define _GNU_SOURCE
#include "transfer.h"

#include "exchange.h"
#include "facts.h"
#include "request.h"
#include "response.h"
#include "session.h"
#include "text.h"
#include "transfer_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pre_request(void *easy, char *peer, char *local, int peer_port, int local_port);

// MARK: Settings

static bool take_pre_request(struct handle *handle) {
  const struct libcurl *curl = handle->curl;
  return curl->easy_setopt(handle->easy, CURLOPT_PREREQFUNCTION, pre_request) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_PREREQDATA, handle->easy) == CURLE_OK;
}

/// Restores the program's own settings in libcurl.
static void restore(struct handle *handle) {
  const struct options *options = &handle->options;
  const struct libcurl *curl = handle->curl;
  changes_restore(&handle->transfer->changes, handle);
  reply_unwrap(&handle->transfer->reply, handle);
  if (!curl->is_complete) return;
  curl->easy_setopt(handle->easy, CURLOPT_PREREQFUNCTION, options->pre_request);
  curl->easy_setopt(handle->easy, CURLOPT_PREREQDATA, options->pre_request_data);
}

void transfer_lose_pipeline(struct handle *handle, enum sluice_attach_count reason) {
  session_count(reason);
  if (session_fails_without_pipeline()) return transfer_refuse_without_pipeline(handle->transfer, reason);
  handle->transfer->is_given_up = true;
  changes_restore_lines(&handle->transfer->changes, handle);
}

// MARK: Hops

static const struct sluice_attach_facts *facts_if_wanted(
    struct sluice_attach_facts *facts, const struct handle *handle) {
  if (!handle->transfer->wants_facts) return NULL;
  facts_read(facts, handle);
  return facts;
}

static void read_response(struct response *response, const struct handle *handle, int number) {
  if (handle->transfer->wants_facts) response_read(response, handle, number);
  else response_read_status(response, handle);
}

static void describe_later_hop(struct sluice_attach_hop *hop, struct response *previous, const struct handle *handle) {
  char *url = NULL, *method = NULL;
  session_count(SLUICE_ATTACH_COUNT_HOPS);
  handle->curl->easy_getinfo(handle->easy, CURLINFO_EFFECTIVE_URL, &url);
  handle->curl->easy_getinfo(handle->easy, CURLINFO_EFFECTIVE_METHOD, &method);
  read_response(previous, handle, handle->transfer->next_response++);
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
  struct sluice_attach_hop hop = {.request = &request.form, .facts = facts_if_wanted(&facts, handle)};
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

// MARK: Begin

static struct transfer *open_transfer(struct handle *handle) {
  handle->transfer = calloc(1, sizeof *handle->transfer);
  if (handle->transfer) handle->transfer->generation = session_generation();
  return handle->transfer;
}

static void close_transfer(struct handle *handle) {
  struct transfer *transfer = handle->transfer;
  handle->transfer = NULL;
  transfer_drop_refusal(transfer);
  free(transfer->changes.lines);
  reply_free(&transfer->reply);
  free(transfer);
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
  if (is_held && take_pre_request(handle) && changes_apply(&transfer->changes, handle, answer)) return;
  restore(handle);
  transfer_lose_pipeline(handle, SLUICE_ATTACH_COUNT_NO_PLAN);
  if (transfer->refusal) take_pre_request(handle);
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
  exchange_use(handle->curl);
  reason = SLUICE_ATTACH_COUNT_NO_PLAN;
  if (open_transfer(handle)) {
    attach(host, handle, request, blocks);
    const bool is_taken = handle->transfer->attached || handle->transfer->refusal;
    reason = is_taken ? SLUICE_ATTACH_COUNTS : SLUICE_ATTACH_COUNT_UNREADABLE;
    if (!is_taken) close_transfer(handle);
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
  if (take_pre_request(handle)) return reason;
  restore(handle);
  close_transfer(handle);
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
  if (session_is_inside()) return true;
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
  return !transfer || !transfer->refusal || take_pre_request(handle) ? TRANSFER_READY : TRANSFER_FAILED;
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
  else close_transfer(handle);
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

// MARK: End

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
  read_response(&response, handle, transfer->next_response);
  const struct sluice_attach_end end = {
      .code = (int32_t)code, .reason = text(reason_of(handle, code, is_cancelled)), .response = &response.form,
      .is_cancelled = is_cancelled, .facts = facts_if_wanted(&facts, handle)};
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
  restore(handle);
  close_transfer(handle);
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
  close_transfer(handle);
}

bool transfer_replaces(const struct handle *handle, CURLoption option) {
  if (!handle->transfer) return false;
  if (option == CURLOPT_HTTPHEADER) return handle->transfer->changes.has_new_lines;
  if (reply_replaces(&handle->transfer->reply, option)) return true;
  return option == CURLOPT_PREREQFUNCTION || option == CURLOPT_PREREQDATA;
}

void transfer_undo_copy(const struct handle *original, CURL *copy) {
  if (!original->transfer) return;
  struct transfer like = *original->transfer;
  like.changes.lines = NULL;
  // A temporary entry for the copy, which borrows the texts of the original. It is not in the table, because there may
  // be no memory for an entry.
  struct handle handle = {.easy = copy, .curl = original->curl, .options = original->options, .transfer = &like};
  restore(&handle);
}
