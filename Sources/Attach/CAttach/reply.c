#include "reply.h"

#include "transfer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/// The limit of libcurl itself for the head of one response.
enum { HEAD_LIMIT_BYTES = 300 << 10 };

/// The result of giving bytes to a callback of the program.
enum delivery { DELIVERED, PAUSED, FAILED };

/// The number of responses in the state REPLY_WHOLE.
static _Atomic(unsigned) whole_count;

/// Keeps `whole_count` in step with the state.
static void enter(struct reply *reply, enum reply_state state) {
  if (reply->state == REPLY_WHOLE) atomic_fetch_sub(&whole_count, 1);
  if (state == REPLY_WHOLE) atomic_fetch_add(&whole_count, 1);
  reply->state = state;
}

// MARK: Lines

/// The length of the first line, including its line end; the whole length if there is no line end.
static size_t line_length(const char *bytes, size_t length) {
  const char *end = memchr(bytes, '\n', length);
  return end ? (size_t)(end - bytes) + 1 : length;
}

/// Whether a line ends a head.
static bool is_blank(const char *line, size_t length) { return length > 0 && (*line == '\r' || *line == '\n'); }

/// The status in a status line; 0 for any other line.
static int status_of(const char *line, size_t length) {
  if (length < 5 || memcmp(line, "HTTP/", 5) != 0) return 0;
  const char *space = memchr(line, ' ', length);
  int status = 0;
  for (const char *end = line + length; space && ++space < end && *space >= '0' && *space <= '9' && status < 1000;)
    status = 10 * status + (*space - '0');
  return status < 1000 ? status : 0;
}

// MARK: The program's callbacks

/// What libcurl does with bodies if the program has set no CURLOPT_WRITEFUNCTION.
static size_t write_to_file(char *bytes, size_t size, size_t count, void *file) {
  return fwrite(bytes, size, count, file);
}

/// Calls a callback of the program.
static enum delivery deliver(
    struct handle *handle, curl_write_callback function, void *data, const char *bytes, size_t length) {
  handle->is_in_callback = true;
  // The type of the callback has no const, but a program must not write to these bytes.
  const size_t taken = (function ? function : write_to_file)((char *)(uintptr_t)bytes, 1, length, data);
  handle->is_in_callback = false;
  if (taken == CURL_WRITEFUNC_PAUSE) return PAUSED;
  return taken == length ? DELIVERED : FAILED;
}

/// The data argument for the program's function for bodies.
static void *write_data(const struct options *options) {
  return options->has_write_data ? options->write_data : stdout;
}

/// Delivers a line of a head as libcurl does: with CURLOPT_HEADER, first to the function for bodies.
static enum delivery deliver_line(struct reply *reply, struct handle *handle, const char *line, size_t length) {
  const struct options *options = &handle->options;
  while (options->includes_heads && reply->given_as_body < length) {
    const size_t left = length - reply->given_as_body;
    const size_t piece = left < CURL_MAX_WRITE_SIZE ? left : CURL_MAX_WRITE_SIZE;
    const enum delivery delivery =
        deliver(handle, options->write_function, write_data(options), line + reply->given_as_body, piece);
    if (delivery != DELIVERED) return delivery;
    reply->given_as_body += piece;
  }
  if (options->header_function || options->header_data) {
    const curl_write_callback function =
        options->header_function ? options->header_function : options->write_function;
    const enum delivery delivery = deliver(handle, function, options->header_data, line, length);
    if (delivery != DELIVERED) return delivery;
  }
  reply->given_as_body = 0;
  return DELIVERED;
}

// MARK: The held head

/// Forgets the held lines.
static void drop_held(struct reply *reply) {
  free(reply->bytes);
  reply->bytes = NULL;
  reply->length = reply->room = reply->given = 0;
}

/// Appends a line to the held lines; false if memory ran out.
static bool hold(struct reply *reply, const char *line, size_t length) {
  if (length > reply->room - reply->length) {
    const size_t room = 2 * (reply->length + length) + 1024;
    char *longer = realloc(reply->bytes, room);
    if (!longer) return false;
    reply->bytes = longer;
    reply->room = room;
  }
  memcpy(reply->bytes + reply->length, line, length);
  reply->length += length;
  return true;
}

/// Delivers the held lines, beginning with the line at which the program has paused the transfer.
static enum delivery deliver_held(struct reply *reply, struct handle *handle) {
  while (reply->given < reply->length) {
    const char *line = reply->bytes + reply->given;
    const size_t length = line_length(line, reply->length - reply->given);
    const enum delivery delivery = deliver_line(reply, handle, line, length);
    if (delivery != DELIVERED) return delivery;
    reply->given += length;
  }
  drop_held(reply);
  enter(reply, reply->is_seen ? REPLY_PASSING : REPLY_OPEN);
  return DELIVERED;
}

/// Replaces the held lines by those of the stages; false if memory ran out.
static bool replace_held(struct reply *reply, const struct sluice_attach_answer *answer) {
  size_t length = 0;
  for (size_t index = 0; index < answer->line_count; index++) length += answer->lines[index].length;
  char *bytes = malloc(length + 1);
  if (!bytes) return false;
  drop_held(reply);
  reply->bytes = bytes;
  reply->length = reply->room = length;
  for (size_t index = 0; index < answer->line_count; index++) {
    memcpy(bytes, answer->lines[index].bytes, answer->lines[index].length);
    bytes += answer->lines[index].length;
  }
  return true;
}

/// The held lines, to be released with free(); NULL if memory ran out.
static struct sluice_attach_text *held_lines(const struct reply *reply, size_t *count) {
  *count = 0;
  for (size_t at = 0; at < reply->length; at += line_length(reply->bytes + at, reply->length - at)) ++*count;
  struct sluice_attach_text *lines = malloc((*count + 1) * sizeof *lines);
  if (!lines) return NULL;
  size_t index = 0;
  for (size_t at = 0; at < reply->length; at += lines[index++].length)
    lines[index] =
        (struct sluice_attach_text){reply->bytes + at, line_length(reply->bytes + at, reply->length - at)};
  return lines;
}

/// Shows the held head to the stages. Afterwards the head can be delivered to the program.
///
/// @return false if the program must get nothing of the response
static bool show(struct reply *reply, struct handle *handle) {
  size_t count = 0;
  struct sluice_attach_text *lines = held_lines(reply, &count);
  reply->is_seen = true;
  enter(reply, REPLY_GIVING);
  if (!lines) return transfer_give_up(handle);
  struct sluice_attach_answer answer = {.outcome = SLUICE_ATTACH_PROCEED};
  const int kept = errno;
  const bool goes_on = transfer_receive(handle, lines, count, &answer);
  errno = kept;
  free(lines);
  if (!goes_on) return false;
  if (answer.changes & SLUICE_ATTACH_NEW_LINES && !replace_held(reply, &answer)) return transfer_give_up(handle);
  return true;
}

// MARK: Heads

/// Whether this line begins a head that stages may have to see. If libcurl has opened another connection since
/// `reply->connections` was read, the kept connection was dead. Then the head is that of a proxy, which stages do not
/// see.
static bool begins_response(const struct reply *reply, const struct handle *handle) {
  if (!reply->is_expected) return false;
  long connections = 0;
  handle->curl->easy_getinfo(handle->easy, CURLINFO_NUM_CONNECTS, &connections);
  return connections == reply->connections;
}

/// Whether it is certain that libcurl sends no further request after this head. Then the head need not be held until
/// the body arrives.
static bool is_last(const struct handle *handle) {
  const struct options *options = &handle->options;
  long status = 0;
  handle->curl->easy_getinfo(handle->easy, CURLINFO_RESPONSE_CODE, &status);
  // Libcurl may first send a request without its body, until it knows how to authenticate.
  if (options->kind != REQUEST_GET && options->kind != REQUEST_HEAD) return false;
  if (status >= 300 && status < 400) return !options->follows_redirects;
  return status != 401 && status != 407 && status != 417 && status != 421;
}

/// Whether a line of the held head makes libcurl follow a redirect, or end the transfer with an error. The program may
/// set options for the next hop as soon as it gets this head, and libcurl uses them at once.
static bool is_followed(const struct reply *reply, const struct handle *handle, const char *line, size_t length) {
  if (!handle->options.follows_redirects || length < 9 || strncasecmp(line, "Location:", 9) != 0) return false;
  const int status = status_of(reply->bytes, line_length(reply->bytes, reply->length));
  size_t start = 9;
  while (start < length && strchr(" \t\r\n", line[start])) start++;
  return status >= 300 && status < 400 && start < length;
}

/// Holds a line if the stages must see it before the program does. Other lines are not held: they are delivered at
/// once, or after the held lines. `is_taken` tells whether the line is held.
///
/// @return false if the transfer must end
static bool take_line(
    struct reply *reply, struct handle *handle, const char *line, size_t length, bool *is_taken) {
  *is_taken = false;
  if (reply->state == REPLY_WHOLE && status_of(line, length) != 0) {
    enter(reply, REPLY_GIVING);
    return true;
  }
  if (reply->state == REPLY_OPEN && begins_response(reply, handle)) {
    const int status = status_of(line, length);
    reply->state = status >= 100 && status < 200 ? REPLY_INFORMATIONAL : REPLY_HEAD;
  }
  // In REPLY_WHOLE, these are trailers: libcurl delivers them even for a body that it skips before its next request.
  if (reply->state != REPLY_HEAD && reply->state != REPLY_WHOLE) return true;
  const bool is_long = length > HEAD_LIMIT_BYTES - reply->length;
  if (is_long || !hold(reply, line, length)) {
    reply->is_seen = true;
    enter(reply, REPLY_GIVING);
    return is_long ? transfer_refuse(handle, "sluice: the head of the response is longer than 300 KiB")
                   : transfer_give_up(handle);
  }
  *is_taken = true;
  if (reply->state == REPLY_HEAD && is_followed(reply, handle, line, length)) {
    enter(reply, REPLY_GIVING);
    reply->is_expected = false;
  }
  if (reply->state != REPLY_HEAD || !is_blank(line, length)) return true;
  enter(reply, REPLY_WHOLE);
  reply->is_expected = false;
  return !is_last(handle) || show(reply, handle);
}

/// The value that a callback returns to libcurl for bytes that were not delivered.
static size_t stop(struct reply *reply, enum delivery delivery, size_t taken) {
  if (delivery == FAILED) return 0;
  // Libcurl will deliver all these bytes again.
  reply->taken = taken;
  return CURL_WRITEFUNC_PAUSE;
}

/// The CURLOPT_HEADERFUNCTION. After a pause, libcurl may deliver several lines at once.
static size_t take_header(char *bytes, size_t size, size_t count, void *easy) {
  struct handle *handle = handle_find(easy);
  struct reply *reply = handle ? transfer_reply(handle) : NULL;
  // Libcurl may still deliver bytes of a refused response.
  if (!reply || transfer_is_refused(handle)) return 0;
  const size_t length = size * count;
  size_t done = reply->taken < length ? reply->taken : length;
  reply->taken = 0;
  while (true) {
    enum delivery delivery = reply->state == REPLY_GIVING ? deliver_held(reply, handle) : DELIVERED;
    if (delivery != DELIVERED) return stop(reply, delivery, done);
    if (done == length) return length;
    const char *line = bytes + done;
    const size_t line_bytes = line_length(line, length - done);
    bool is_taken = false;
    if (!take_line(reply, handle, line, line_bytes, &is_taken)) return 0;
    if (!is_taken && reply->state == REPLY_GIVING) continue;
    if (!is_taken) delivery = deliver_line(reply, handle, line, line_bytes);
    if (delivery != DELIVERED) return stop(reply, delivery, done);
    if (reply->state == REPLY_INFORMATIONAL && is_blank(line, line_bytes)) enter(reply, REPLY_OPEN);
    done += line_bytes;
  }
}

// MARK: Bodies

/// The CURLOPT_WRITEFUNCTION.
static size_t take_body(char *bytes, size_t size, size_t count, void *easy) {
  struct handle *handle = handle_find(easy);
  struct reply *reply = handle ? transfer_reply(handle) : NULL;
  // Libcurl may still deliver bytes of a refused response.
  if (!reply || transfer_is_refused(handle)) return 0;
  if (reply->state == REPLY_WHOLE && !show(reply, handle)) return 0;
  const enum delivery delivery = reply->state == REPLY_GIVING ? deliver_held(reply, handle) : DELIVERED;
  if (delivery != DELIVERED) return delivery == PAUSED ? CURL_WRITEFUNC_PAUSE : 0;
  if (reply->state != REPLY_PASSING &&
      !transfer_refuse(handle, "sluice: the response has no valid head to show to the stages"))
    return 0;
  const struct options *options = &handle->options;
  handle->is_in_callback = true;
  const size_t taken =
      (options->write_function ? options->write_function : write_to_file)(bytes, size, count, write_data(options));
  handle->is_in_callback = false;
  return taken;
}

// MARK: Around a transfer

bool reply_wrap(struct reply *reply, const struct handle *handle) {
  const struct libcurl *curl = handle->curl;
  reply->is_wrapped = true;
  return curl->easy_setopt(handle->easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_WRITEDATA, handle->easy) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_HEADERDATA, handle->easy) == CURLE_OK &&
         curl->easy_setopt(handle->easy, CURLOPT_HEADER, 0L) == CURLE_OK;
}

void reply_unwrap(const struct reply *reply, const struct handle *handle) {
  const struct libcurl *curl = handle->curl;
  const struct options *options = &handle->options;
  if (!reply->is_wrapped) return;
  curl->easy_setopt(handle->easy, CURLOPT_WRITEFUNCTION, options->write_function);
  curl->easy_setopt(handle->easy, CURLOPT_WRITEDATA, write_data(options));
  curl->easy_setopt(handle->easy, CURLOPT_HEADERFUNCTION, options->header_function);
  curl->easy_setopt(handle->easy, CURLOPT_HEADERDATA, options->header_data);
  curl->easy_setopt(handle->easy, CURLOPT_HEADER, (long)options->includes_heads);
}

bool reply_replaces(const struct reply *reply, CURLoption option) {
  if (!reply->is_wrapped) return false;
  return option == CURLOPT_WRITEFUNCTION || option == CURLOPT_WRITEDATA || option == CURLOPT_HEADERFUNCTION ||
         option == CURLOPT_HEADERDATA || option == CURLOPT_HEADER;
}

bool reply_expect(struct reply *reply, const struct handle *handle) {
  if (!reply->is_wrapped) return true;
  reply->is_expected = true;
  handle->curl->easy_getinfo(handle->easy, CURLINFO_NUM_CONNECTS, &reply->connections);
  return !reply->is_seen;
}

bool reply_give_before_hop(struct reply *reply, struct handle *handle) {
  if (reply->state == REPLY_WHOLE) enter(reply, REPLY_GIVING);
  // If the program pauses here, it gets the rest with the next head.
  if (reply->state == REPLY_GIVING) reply->is_failed = deliver_held(reply, handle) == FAILED;
  return !reply->is_failed;
}

bool reply_exists_whole(void) { return atomic_load_explicit(&whole_count, memory_order_relaxed) > 0; }

void reply_settle_whole(struct reply *reply, struct handle *handle) {
  // The transfer has ended, so the program can no longer pause it: a pause counts as a failure.
  if (show(reply, handle)) reply->is_failed = deliver_held(reply, handle) != DELIVERED;
}

CURLcode reply_settle(struct reply *reply, struct handle *handle, CURLcode code) {
  if (!reply->is_wrapped) return code;
  // A transfer can end before the empty line of its head: because of CURLOPT_FAILONERROR, or because the server closes
  // the connection.
  const bool is_short = reply->state == REPLY_HEAD && (code == CURLE_OK || code == CURLE_HTTP_RETURNED_ERROR);
  if (reply->state == REPLY_WHOLE || is_short) reply_settle_whole(reply, handle);
  long status = 0;
  if (code == CURLE_OK && !reply->is_seen) handle->curl->easy_getinfo(handle->easy, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200) transfer_refuse(handle, "sluice: the response has no valid head to show to the stages");
  const bool is_end = code == CURLE_OK || code == CURLE_ABORTED_BY_CALLBACK;
  return reply->is_failed && is_end ? CURLE_WRITE_ERROR : code;
}

void reply_free(struct reply *reply) {
  enter(reply, REPLY_OPEN);
  drop_held(reply);
}
