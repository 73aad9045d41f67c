#define _GNU_SOURCE
#include "CEnvoyPlayer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define CALLBACK(name) envoy_dynamic_module_callback_##name
#define HOOK(name) envoy_dynamic_module_on_##name
#define LIMIT (1 << 20)
typedef sluice_envoy_text text;
typedef sluice_envoy_field field;

// MARK: Memory

struct bytes {
  char *start;
  size_t count;
};

static void append(struct bytes *bytes, const char *more, size_t count) {
  bytes->start = realloc(bytes->start, bytes->count + count + 1);
  memcpy(bytes->start + bytes->count, more, count);
  bytes->count += count;
  bytes->start[bytes->count] = 0;
}

static void empty(struct bytes *bytes) {
  free(bytes->start);
  *bytes = (struct bytes){NULL, 0};
}

struct line {
  struct bytes name, value;
};

struct fields {
  struct line *lines;
  size_t count;
};

static void add(struct fields *fields, text name, text value) {
  fields->lines = realloc(fields->lines, (fields->count + 1) * sizeof *fields->lines);
  struct line *line = &fields->lines[fields->count++];
  *line = (struct line){{NULL, 0}, {NULL, 0}};
  append(&line->name, name.bytes, name.length);
  append(&line->value, value.bytes, value.length);
}

static bool is_named(const struct line *line, text name) {
  return line->name.count == name.length && strncasecmp(line->name.start, name.bytes, name.length) == 0;
}

static void remove_named(struct fields *fields, text name) {
  size_t kept = 0;
  for (size_t index = 0; index < fields->count; index++) {
    if (is_named(&fields->lines[index], name)) {
      empty(&fields->lines[index].name);
      empty(&fields->lines[index].value);
    } else {
      fields->lines[kept++] = fields->lines[index];
    }
  }
  fields->count = kept;
}

static void remove_all(struct fields *fields) {
  for (size_t index = 0; index < fields->count; index++) {
    empty(&fields->lines[index].name);
    empty(&fields->lines[index].value);
  }
  free(fields->lines);
  *fields = (struct fields){NULL, 0};
}

static text text_of(const char *string) { return (text){string, strlen(string)}; }

// MARK: Streams

struct side {
  struct bytes received, buffered, passed;
  bool is_stopped, has_headers_passed;
};

struct player_stream {
  const void *filter;
  struct player_worker *worker;
  struct player_stream *downstream;
  struct fields fields[4];
  struct side sides[2];
  struct fields metadata;
  uint32_t reply;
  struct bytes reply_body;
  struct bytes upstream;
  /// Commits that were not delivered yet refer to the stream by this.
  struct link *link;
};

/// What schedulers and commits have of a stream. It outlives the stream.
struct link {
  struct player_stream *stream;
  struct player_worker *worker;
  int users;
};

struct player_worker {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct link **commits;
  size_t count;
};

// The hooks of the module.
const void *HOOK(http_filter_config_new)(void *, text, text);
void HOOK(http_filter_config_destroy)(const void *);
const void *HOOK(http_filter_new)(const void *, void *);
void HOOK(http_filter_destroy)(const void *);
uint32_t HOOK(http_filter_request_headers)(void *, const void *, bool);
uint32_t HOOK(http_filter_request_body)(void *, const void *, bool);
uint32_t HOOK(http_filter_request_trailers)(void *, const void *);
uint32_t HOOK(http_filter_response_headers)(void *, const void *, bool);
uint32_t HOOK(http_filter_response_body)(void *, const void *, bool);
uint32_t HOOK(http_filter_response_trailers)(void *, const void *);
void HOOK(http_filter_stream_complete)(void *, const void *);
void HOOK(http_filter_scheduled)(void *, const void *, uint64_t);

struct player_worker *player_worker_new(void) {
  struct player_worker *worker = calloc(1, sizeof *worker);
  pthread_mutex_init(&worker->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&worker->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return worker;
}

/// The worker's mutex must be held.
static void leave(struct link *link) {
  if (--link->users == 0) free(link);
}

void player_worker_free(struct player_worker *worker) {
  for (size_t index = 0; index < worker->count; index++) leave(worker->commits[index]);
  free(worker->commits);
  pthread_cond_destroy(&worker->changed);
  pthread_mutex_destroy(&worker->mutex);
  free(worker);
}

int player_worker_turn(struct player_worker *worker, int milliseconds) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += milliseconds / 1000;
  limit.tv_nsec += (long)(milliseconds % 1000) * 1000000;
  if (limit.tv_nsec >= 1000000000) limit.tv_sec++, limit.tv_nsec -= 1000000000;
  pthread_mutex_lock(&worker->mutex);
  while (worker->count == 0 && pthread_cond_timedwait(&worker->changed, &worker->mutex, &limit) != ETIMEDOUT) {
  }
  struct link **commits = worker->commits;
  size_t count = worker->count;
  worker->commits = NULL;
  worker->count = 0;
  pthread_mutex_unlock(&worker->mutex);
  for (size_t index = 0; index < count; index++) {
    pthread_mutex_lock(&worker->mutex);
    struct player_stream *stream = commits[index]->stream;
    leave(commits[index]);
    pthread_mutex_unlock(&worker->mutex);
    if (stream) HOOK(http_filter_scheduled)(stream, stream->filter, 0);
  }
  free(commits);
  return (int)count;
}

const void *player_configuration_new(const char *name, const char *configuration) {
  return HOOK(http_filter_config_new)(NULL, text_of(name), text_of(configuration));
}

void player_configuration_destroy(const void *configuration) { HOOK(http_filter_config_destroy)(configuration); }

struct player_stream *player_stream_new(const void *configuration, struct player_worker *worker,
                                        struct player_stream *downstream) {
  struct player_stream *stream = calloc(1, sizeof *stream);
  stream->worker = worker;
  stream->downstream = downstream;
  stream->link = calloc(1, sizeof *stream->link);
  *stream->link = (struct link){stream, worker, 1};
  stream->filter = HOOK(http_filter_new)(configuration, stream);
  return stream;
}

void player_stream_destroy(struct player_stream *stream) {
  HOOK(http_filter_stream_complete)(stream, stream->filter);
  HOOK(http_filter_destroy)(stream->filter);
  pthread_mutex_lock(&stream->worker->mutex);
  stream->link->stream = NULL;
  leave(stream->link);
  pthread_mutex_unlock(&stream->worker->mutex);
  for (int part = 0; part < 4; part++) remove_all(&stream->fields[part]);
  for (int side = 0; side < 2; side++) {
    empty(&stream->sides[side].received);
    empty(&stream->sides[side].buffered);
    empty(&stream->sides[side].passed);
  }
  remove_all(&stream->metadata);
  empty(&stream->reply_body);
  empty(&stream->upstream);
  free(stream);
}

void player_stream_add(struct player_stream *stream, enum sluice_envoy_part part, const char *name, const char *value) {
  add(&stream->fields[part], text_of(name), text_of(value));
}

const char *player_stream_get(const struct player_stream *stream, enum sluice_envoy_part part, const char *name,
                              size_t index) {
  const struct fields *fields = &stream->fields[part];
  for (size_t place = 0; place < fields->count; place++) {
    if (is_named(&fields->lines[place], text_of(name)) && index-- == 0) return fields->lines[place].value.start;
  }
  return NULL;
}

void player_stream_copy(struct player_stream *to, const struct player_stream *from, enum sluice_envoy_part part) {
  remove_all(&to->fields[part]);
  for (size_t index = 0; index < from->fields[part].count; index++) {
    const struct line *line = &from->fields[part].lines[index];
    add(&to->fields[part], (text){line->name.start, line->name.count}, (text){line->value.start, line->value.count});
  }
}

void player_stream_set_upstream(struct player_stream *stream, const char *address) {
  empty(&stream->upstream);
  append(&stream->upstream, address, strlen(address));
}

static struct side *side_of(const struct player_stream *stream, bool is_request) {
  return (struct side *)&stream->sides[is_request ? 0 : 1];
}

/// Lets everything that waits go past the filter.
static void pass(struct side *side) {
  side->is_stopped = false;
  side->has_headers_passed = true;
  append(&side->passed, side->buffered.start ? side->buffered.start : "", side->buffered.count);
  empty(&side->buffered);
  append(&side->passed, side->received.start ? side->received.start : "", side->received.count);
  empty(&side->received);
}

bool player_stream_headers(struct player_stream *stream, bool is_request, bool is_last) {
  struct side *side = side_of(stream, is_request);
  uint32_t status = is_request ? HOOK(http_filter_request_headers)(stream, stream->filter, is_last)
                               : HOOK(http_filter_response_headers)(stream, stream->filter, is_last);
  side->is_stopped = status != 0;
  if (status == 0) pass(side);
  return status == 0;
}

bool player_stream_body(struct player_stream *stream, bool is_request, const char *bytes, size_t count, bool is_last) {
  struct side *side = side_of(stream, is_request);
  // Before the last piece, Envoy moves a piece to what it has buffered.
  if (is_last && side->buffered.count > 0) {
    append(&side->buffered, bytes, count);
  } else {
    append(&side->received, bytes, count);
  }
  uint32_t status = is_request ? HOOK(http_filter_request_body)(stream, stream->filter, is_last)
                               : HOOK(http_filter_response_body)(stream, stream->filter, is_last);
  if (status == 0) {
    pass(side);
    return true;
  }
  side->is_stopped = true;
  if (side->received.count > 0) append(&side->buffered, side->received.start, side->received.count);
  empty(&side->received);
  return false;
}

bool player_stream_trailers(struct player_stream *stream, bool is_request) {
  uint32_t status = is_request ? HOOK(http_filter_request_trailers)(stream, stream->filter)
                               : HOOK(http_filter_response_trailers)(stream, stream->filter);
  if (status == 0) pass(side_of(stream, is_request));
  return status == 0;
}

bool player_stream_has_passed(const struct player_stream *stream, bool is_request) {
  return side_of(stream, is_request)->has_headers_passed;
}

bool player_stream_is_stopped(const struct player_stream *stream, bool is_request) {
  return side_of(stream, is_request)->is_stopped;
}

const char *player_stream_passed_body(const struct player_stream *stream, bool is_request, size_t *count) {
  *count = side_of(stream, is_request)->passed.count;
  return side_of(stream, is_request)->passed.start;
}

uint32_t player_stream_reply(const struct player_stream *stream) { return stream->reply; }

const char *player_stream_reply_body(const struct player_stream *stream, size_t *count) {
  *count = stream->reply_body.count;
  return stream->reply_body.start;
}

// MARK: What Envoy offers

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct bytes log_lines;

char *player_take_log(void) {
  pthread_mutex_lock(&log_mutex);
  char *lines = log_lines.start ? log_lines.start : strdup("");
  log_lines = (struct bytes){NULL, 0};
  pthread_mutex_unlock(&log_mutex);
  return lines;
}

void CALLBACK(log)(uint32_t level, text line);
void CALLBACK(log)(uint32_t level, text line) {
  (void)level;
  pthread_mutex_lock(&log_mutex);
  append(&log_lines, line.bytes, line.length);
  append(&log_lines, "\n", 1);
  pthread_mutex_unlock(&log_mutex);
}

/// Only its presence counts: Envoy has it since 1.40.
void CALLBACK(log_v2)(void);
void CALLBACK(log_v2)(void) {}

void CALLBACK(http_filter_continue_decoding)(struct player_stream *stream);
void CALLBACK(http_filter_continue_decoding)(struct player_stream *stream) { pass(side_of(stream, true)); }

void CALLBACK(http_filter_continue_encoding)(struct player_stream *stream);
void CALLBACK(http_filter_continue_encoding)(struct player_stream *stream) { pass(side_of(stream, false)); }

struct link *CALLBACK(http_filter_scheduler_new)(struct player_stream *stream);
struct link *CALLBACK(http_filter_scheduler_new)(struct player_stream *stream) {
  pthread_mutex_lock(&stream->worker->mutex);
  stream->link->users++;
  pthread_mutex_unlock(&stream->worker->mutex);
  return stream->link;
}

void CALLBACK(http_filter_scheduler_commit)(struct link *link, uint64_t event);
void CALLBACK(http_filter_scheduler_commit)(struct link *link, uint64_t event) {
  (void)event;
  struct player_worker *worker = link->worker;
  pthread_mutex_lock(&worker->mutex);
  link->users++;
  worker->commits = realloc(worker->commits, (worker->count + 1) * sizeof *worker->commits);
  worker->commits[worker->count++] = link;
  pthread_cond_signal(&worker->changed);
  pthread_mutex_unlock(&worker->mutex);
}

void CALLBACK(http_filter_scheduler_delete)(struct link *link);
void CALLBACK(http_filter_scheduler_delete)(struct link *link) {
  pthread_mutex_t *mutex = &link->worker->mutex;
  pthread_mutex_lock(mutex);
  leave(link);
  pthread_mutex_unlock(mutex);
}

static pthread_mutex_t metrics_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *name;
  uint64_t value;
} metrics[64];

static uint32_t define(text name, size_t *id) {
  pthread_mutex_lock(&metrics_mutex);
  size_t place = 0;
  while (metrics[place].name && strncmp(metrics[place].name, name.bytes, name.length) != 0) place++;
  if (metrics[place].name == NULL) metrics[place].name = strndup(name.bytes, name.length);
  pthread_mutex_unlock(&metrics_mutex);
  *id = place;
  return 0;
}

uint64_t player_metric(const char *name) {
  uint64_t value = 0;
  pthread_mutex_lock(&metrics_mutex);
  for (size_t place = 0; metrics[place].name; place++) {
    if (strcmp(metrics[place].name, name) == 0) value = metrics[place].value;
  }
  pthread_mutex_unlock(&metrics_mutex);
  return value;
}

uint32_t CALLBACK(http_filter_config_define_counter)(void *envoy, text name, text *labels, size_t count, size_t *id);
uint32_t CALLBACK(http_filter_config_define_counter)(void *envoy, text name, text *labels, size_t count, size_t *id) {
  (void)envoy, (void)labels, (void)count;
  return define(name, id);
}

uint32_t CALLBACK(http_filter_config_define_gauge)(void *envoy, text name, text *labels, size_t count, size_t *id);
uint32_t CALLBACK(http_filter_config_define_gauge)(void *envoy, text name, text *labels, size_t count, size_t *id) {
  (void)envoy, (void)labels, (void)count;
  return define(name, id);
}

uint32_t CALLBACK(http_filter_increment_counter)(void *filter, size_t id, text *labels, size_t count, uint64_t value);
uint32_t CALLBACK(http_filter_increment_counter)(void *filter, size_t id, text *labels, size_t count, uint64_t value) {
  (void)filter, (void)labels, (void)count;
  pthread_mutex_lock(&metrics_mutex);
  metrics[id].value += value;
  pthread_mutex_unlock(&metrics_mutex);
  return 0;
}

uint32_t CALLBACK(http_filter_set_gauge)(void *filter, size_t id, text *labels, size_t count, uint64_t value);
uint32_t CALLBACK(http_filter_set_gauge)(void *filter, size_t id, text *labels, size_t count, uint64_t value) {
  (void)filter, (void)labels, (void)count;
  pthread_mutex_lock(&metrics_mutex);
  metrics[id].value = value;
  pthread_mutex_unlock(&metrics_mutex);
  return 0;
}

size_t CALLBACK(http_get_headers_size)(struct player_stream *stream, uint32_t part);
size_t CALLBACK(http_get_headers_size)(struct player_stream *stream, uint32_t part) {
  return stream->fields[part].count;
}

bool CALLBACK(http_get_headers)(struct player_stream *stream, uint32_t part, field *fields);
bool CALLBACK(http_get_headers)(struct player_stream *stream, uint32_t part, field *fields) {
  for (size_t index = 0; index < stream->fields[part].count; index++) {
    const struct line *line = &stream->fields[part].lines[index];
    fields[index] = (field){{line->name.start, line->name.count}, {line->value.start, line->value.count}};
  }
  return true;
}

bool CALLBACK(http_add_header)(struct player_stream *stream, uint32_t part, text name, text value);
bool CALLBACK(http_add_header)(struct player_stream *stream, uint32_t part, text name, text value) {
  if (value.bytes == NULL) return false;
  add(&stream->fields[part], name, value);
  return true;
}

bool CALLBACK(http_set_header)(struct player_stream *stream, uint32_t part, text name, text value);
bool CALLBACK(http_set_header)(struct player_stream *stream, uint32_t part, text name, text value) {
  // The value can be one of the field that is removed.
  struct bytes copy = {NULL, 0};
  if (value.bytes) append(&copy, value.bytes, value.length);
  struct bytes key = {NULL, 0};
  append(&key, name.bytes, name.length);
  text kept = {key.start, key.count};
  remove_named(&stream->fields[part], kept);
  if (value.bytes) add(&stream->fields[part], kept, (text){copy.start, copy.count});
  empty(&copy);
  empty(&key);
  return true;
}

static struct bytes *body_of(struct player_stream *stream, uint32_t number) {
  struct side *side = &stream->sides[number / 2];
  return number % 2 == 0 ? &side->received : &side->buffered;
}

size_t CALLBACK(http_get_body_chunks_size)(struct player_stream *stream, uint32_t number);
size_t CALLBACK(http_get_body_chunks_size)(struct player_stream *stream, uint32_t number) {
  return body_of(stream, number)->count > 0 ? 1 : 0;
}

bool CALLBACK(http_get_body_chunks)(struct player_stream *stream, uint32_t number, text *pieces);
bool CALLBACK(http_get_body_chunks)(struct player_stream *stream, uint32_t number, text *pieces) {
  struct bytes *bytes = body_of(stream, number);
  if (bytes->count > 0) pieces[0] = (text){bytes->start, bytes->count};
  return true;
}

bool CALLBACK(http_append_body)(struct player_stream *stream, uint32_t number, text bytes);
bool CALLBACK(http_append_body)(struct player_stream *stream, uint32_t number, text bytes) {
  append(body_of(stream, number), bytes.bytes, bytes.length);
  return true;
}

bool CALLBACK(http_drain_body)(struct player_stream *stream, uint32_t number, size_t count);
bool CALLBACK(http_drain_body)(struct player_stream *stream, uint32_t number, size_t count) {
  struct bytes *bytes = body_of(stream, number);
  if (count > bytes->count) return false;
  memmove(bytes->start, bytes->start + count, bytes->count - count);
  bytes->count -= count;
  return true;
}

bool CALLBACK(http_received_buffered_request_body)(struct player_stream *stream);
bool CALLBACK(http_received_buffered_request_body)(struct player_stream *stream) { return (void)stream, false; }

bool CALLBACK(http_received_buffered_response_body)(struct player_stream *stream);
bool CALLBACK(http_received_buffered_response_body)(struct player_stream *stream) { return (void)stream, false; }

uint64_t CALLBACK(http_get_buffer_limit)(struct player_stream *stream);
uint64_t CALLBACK(http_get_buffer_limit)(struct player_stream *stream) { return (void)stream, LIMIT; }

void CALLBACK(http_send_response)(struct player_stream *stream, uint32_t status, field *fields, size_t count, text body,
                                  text details);
void CALLBACK(http_send_response)(struct player_stream *stream, uint32_t status, field *fields, size_t count, text body,
                                  text details) {
  (void)details;
  stream->reply = status;
  remove_all(&stream->fields[SLUICE_ENVOY_RESPONSE]);
  for (size_t index = 0; index < count; index++) {
    add(&stream->fields[SLUICE_ENVOY_RESPONSE], fields[index].name, fields[index].value);
  }
  append(&stream->reply_body, body.bytes ? body.bytes : "", body.length);
}

void CALLBACK(http_set_dynamic_metadata_string)(struct player_stream *stream, text space, text key, text value);
void CALLBACK(http_set_dynamic_metadata_string)(struct player_stream *stream, text space, text key, text value) {
  (void)space;
  remove_named(&stream->metadata, key);
  add(&stream->metadata, key, value);
}

bool CALLBACK(http_get_metadata_string)(struct player_stream *stream, uint32_t source, text space, text key, text *value);
bool CALLBACK(http_get_metadata_string)(struct player_stream *stream, uint32_t source, text space, text key,
                                        text *value) {
  (void)source, (void)space;
  const struct fields *metadata = &(stream->downstream ? stream->downstream : stream)->metadata;
  for (size_t index = 0; index < metadata->count; index++) {
    if (!is_named(&metadata->lines[index], key)) continue;
    *value = (text){metadata->lines[index].value.start, metadata->lines[index].value.count};
    return true;
  }
  return false;
}

bool CALLBACK(http_filter_get_attribute_string)(struct player_stream *stream, uint32_t attribute, text *value);
bool CALLBACK(http_filter_get_attribute_string)(struct player_stream *stream, uint32_t attribute, text *value) {
  if (attribute != SLUICE_ENVOY_UPSTREAM_ADDRESS || stream->upstream.count == 0) return false;
  *value = (text){stream->upstream.start, stream->upstream.count};
  return true;
}
