// Calls of Envoy's functions. Envoy before 1.38 has other functions for fields and bodies, and some functions have the
// same name with other parameters. The symbols are weak: Envoy exports those of its own version.
#include "CEnvoy.h"

#include <string.h>

#define CALLBACK(name) envoy_dynamic_module_callback_##name
#define WEAK __attribute__((weak))
/// Declares a pointer to a function that has this type in this version of Envoy.
#define AS(type, name) type *call = (type *)(uintptr_t)CALLBACK(name)
typedef sluice_envoy_text text;
typedef sluice_envoy_field field;

// MARK: Functions of all versions

WEAK void CALLBACK(http_filter_continue_decoding)(void *);
WEAK void CALLBACK(http_filter_continue_encoding)(void *);
WEAK void *CALLBACK(http_filter_scheduler_new)(void *);
WEAK void CALLBACK(http_filter_scheduler_commit)(void *, uint64_t);
WEAK void CALLBACK(http_filter_scheduler_delete)(void *);

// Their parameters differ between the versions, so each call has the type of its version.
WEAK void CALLBACK(log)(void);
WEAK void CALLBACK(http_send_response)(void);
WEAK void CALLBACK(http_set_dynamic_metadata_string)(void);
WEAK void CALLBACK(http_get_metadata_string)(void);
WEAK void CALLBACK(http_filter_get_attribute_string)(void);
WEAK void CALLBACK(http_filter_config_define_counter)(void);
WEAK void CALLBACK(http_filter_config_define_gauge)(void);
WEAK void CALLBACK(http_filter_increment_counter)(void);
WEAK void CALLBACK(http_filter_set_gauge)(void);

// MARK: Functions of Envoy 1.36 and 1.37

#define OLD_FIELDS(name)                                                                     \
  WEAK size_t CALLBACK(http_get_##name##s_count)(void *);                                    \
  WEAK bool CALLBACK(http_get_##name##s)(void *, field *);                                   \
  WEAK bool CALLBACK(http_set_##name)(void *, const char *, size_t, const char *, size_t);
OLD_FIELDS(request_header)
OLD_FIELDS(request_trailer)
OLD_FIELDS(response_header)
OLD_FIELDS(response_trailer)

#define OLD_BODY(name)                                                        \
  WEAK bool CALLBACK(http_get_##name##_vector)(void *, text *);               \
  WEAK bool CALLBACK(http_get_##name##_vector_size)(void *, size_t *);        \
  WEAK bool CALLBACK(http_append_##name)(void *, const char *, size_t);       \
  WEAK bool CALLBACK(http_drain_##name)(void *, size_t);
OLD_BODY(received_request_body)
OLD_BODY(buffered_request_body)
OLD_BODY(received_response_body)
OLD_BODY(buffered_response_body)

struct old_fields {
  size_t (*count)(void *);
  bool (*get)(void *, field *);
  bool (*set)(void *, const char *, size_t, const char *, size_t);
};

#define OLD_FIELDS_OF(name) {CALLBACK(http_get_##name##s_count), CALLBACK(http_get_##name##s), CALLBACK(http_set_##name)}
static const struct old_fields old_fields[] = {
    OLD_FIELDS_OF(request_header),
    OLD_FIELDS_OF(request_trailer),
    OLD_FIELDS_OF(response_header),
    OLD_FIELDS_OF(response_trailer),
};

struct old_body {
  bool (*get)(void *, text *);
  bool (*count)(void *, size_t *);
  bool (*append)(void *, const char *, size_t);
  bool (*drain)(void *, size_t);
};

#define OLD_BODY_OF(name)                                                                    \
  {CALLBACK(http_get_##name##_vector), CALLBACK(http_get_##name##_vector_size), CALLBACK(http_append_##name), \
   CALLBACK(http_drain_##name)}
static const struct old_body old_bodies[] = {
    OLD_BODY_OF(received_request_body),
    OLD_BODY_OF(buffered_request_body),
    OLD_BODY_OF(received_response_body),
    OLD_BODY_OF(buffered_response_body),
};

// MARK: Functions since Envoy 1.38

WEAK size_t CALLBACK(http_get_headers_size)(void *, uint32_t);
WEAK bool CALLBACK(http_get_headers)(void *, uint32_t, field *);
WEAK bool CALLBACK(http_set_header)(void *, uint32_t, text, text);
WEAK bool CALLBACK(http_add_header)(void *, uint32_t, text, text);
WEAK size_t CALLBACK(http_get_body_chunks_size)(void *, uint32_t);
WEAK bool CALLBACK(http_get_body_chunks)(void *, uint32_t, text *);
WEAK bool CALLBACK(http_append_body)(void *, uint32_t, text);
WEAK bool CALLBACK(http_drain_body)(void *, uint32_t, size_t);
WEAK bool CALLBACK(http_received_buffered_request_body)(void *);
WEAK bool CALLBACK(http_received_buffered_response_body)(void *);
WEAK uint64_t CALLBACK(http_get_buffer_limit)(void *);
/// Since Envoy 1.40.
WEAK void CALLBACK(log_v2)(void);

/// Whether this is Envoy 1.38 or later.
static bool is_new(void) { return CALLBACK(http_get_headers) != NULL; }

const char *sluice_envoy_version_mark(void) {
  // Envoy 1.36 compares this with the digest of its own headers. Later versions only log a warning.
  if (!is_new()) return "7ee559f16f35086fa7dc9ed380e2efc6b4d89031a001fb504aa71eccd25882f7";
  return CALLBACK(log_v2) != NULL ? "v0.2.0" : "v0.1.0";
}

bool sluice_envoy_is_known(const char **missing) {
#define NEEDED(name) {(const void *)CALLBACK(name), #name}
  const struct {
    const void *function;
    const char *name;
  } always[] = {NEEDED(http_filter_continue_decoding), NEEDED(http_filter_continue_encoding),
                NEEDED(http_filter_scheduler_new), NEEDED(http_filter_scheduler_commit),
                NEEDED(http_filter_scheduler_delete), NEEDED(log), NEEDED(http_send_response),
                NEEDED(http_set_dynamic_metadata_string), NEEDED(http_get_metadata_string),
                NEEDED(http_filter_get_attribute_string), NEEDED(http_filter_config_define_counter),
                NEEDED(http_filter_config_define_gauge), NEEDED(http_filter_increment_counter),
                NEEDED(http_filter_set_gauge)},
    later[] = {NEEDED(http_get_headers_size), NEEDED(http_get_headers), NEEDED(http_set_header), NEEDED(http_add_header),
               NEEDED(http_get_body_chunks_size), NEEDED(http_get_body_chunks), NEEDED(http_append_body),
               NEEDED(http_drain_body), NEEDED(http_received_buffered_request_body),
               NEEDED(http_received_buffered_response_body), NEEDED(http_get_buffer_limit)},
    earlier[] = {NEEDED(http_get_request_headers), NEEDED(http_set_request_header), NEEDED(http_get_response_headers),
                 NEEDED(http_set_response_header), NEEDED(http_get_buffered_request_body_vector),
                 NEEDED(http_drain_buffered_request_body), NEEDED(http_append_buffered_request_body)};
  for (size_t index = 0; index < sizeof always / sizeof *always; index++) {
    if (always[index].function == NULL) return *missing = always[index].name, false;
  }
  if (is_new()) {
    for (size_t index = 0; index < sizeof later / sizeof *later; index++) {
      if (later[index].function == NULL) return *missing = later[index].name, false;
    }
    return true;
  }
  for (size_t index = 0; index < sizeof earlier / sizeof *earlier; index++) {
    if (earlier[index].function == NULL) return *missing = earlier[index].name, false;
  }
  return true;
}

bool sluice_envoy_continues_sides_apart(void) {
  // Until 1.38, one flag for both directions says that nothing waits.
  return CALLBACK(log_v2) != NULL;
}

// MARK: Fields

size_t sluice_envoy_field_count(sluice_envoy_filter filter, enum sluice_envoy_part part) {
  return is_new() ? CALLBACK(http_get_headers_size)(filter, part) : old_fields[part].count(filter);
}

bool sluice_envoy_fields(sluice_envoy_filter filter, enum sluice_envoy_part part, sluice_envoy_field *fields) {
  return is_new() ? CALLBACK(http_get_headers)(filter, part, fields) : old_fields[part].get(filter, fields);
}

bool sluice_envoy_set(sluice_envoy_filter filter, enum sluice_envoy_part part, text name, text value) {
  if (is_new()) return CALLBACK(http_set_header)(filter, part, name, value);
  return old_fields[part].set(filter, name.bytes, name.length, value.bytes, value.length);
}

bool sluice_envoy_add(sluice_envoy_filter filter, enum sluice_envoy_part part, text name, text value) {
  return is_new() && CALLBACK(http_add_header)(filter, part, name, value);
}

// MARK: Bodies

/// The number with which Envoy since 1.38 names a body, and the place in `old_bodies`.
static uint32_t body_number(bool is_request, enum sluice_envoy_place place) { return (is_request ? 0 : 2) + place; }

/// Whether the piece of the hook is what Envoy has buffered.
static bool is_same(sluice_envoy_filter filter, bool is_request) {
  if (is_new()) {
    return is_request ? CALLBACK(http_received_buffered_request_body)(filter)
                      : CALLBACK(http_received_buffered_response_body)(filter);
  }
  text received = {NULL, 0}, buffered = {NULL, 0};
  size_t counts[2] = {0, 0};
  const struct old_body *bodies = &old_bodies[is_request ? 0 : 2];
  if (!bodies[0].count(filter, &counts[0]) || !bodies[1].count(filter, &counts[1])) return false;
  if (counts[0] != 1 || counts[1] != 1) return false;
  return bodies[0].get(filter, &received) && bodies[1].get(filter, &buffered) && received.bytes == buffered.bytes;
}

size_t sluice_envoy_body_count(sluice_envoy_filter filter, bool is_request, enum sluice_envoy_place place) {
  if (place == SLUICE_ENVOY_RECEIVED && is_same(filter, is_request)) return 0;
  uint32_t number = body_number(is_request, place);
  if (is_new()) return CALLBACK(http_get_body_chunks_size)(filter, number);
  size_t count = 0;
  return old_bodies[number].count(filter, &count) ? count : 0;
}

bool sluice_envoy_body(sluice_envoy_filter filter, bool is_request, enum sluice_envoy_place place, text *pieces) {
  uint32_t number = body_number(is_request, place);
  return is_new() ? CALLBACK(http_get_body_chunks)(filter, number, pieces) : old_bodies[number].get(filter, pieces);
}

bool sluice_envoy_drain(sluice_envoy_filter filter, bool is_request, enum sluice_envoy_place place, size_t bytes) {
  uint32_t number = body_number(is_request, place);
  return is_new() ? CALLBACK(http_drain_body)(filter, number, bytes) : old_bodies[number].drain(filter, bytes);
}

bool sluice_envoy_append(sluice_envoy_filter filter, bool is_request, enum sluice_envoy_place place, text bytes) {
  uint32_t number = body_number(is_request, place);
  return is_new() ? CALLBACK(http_append_body)(filter, number, bytes)
                  : old_bodies[number].append(filter, bytes.bytes, bytes.length);
}

uint64_t sluice_envoy_buffer_limit(sluice_envoy_filter filter) {
  return is_new() ? CALLBACK(http_get_buffer_limit)(filter) : 0;
}

// MARK: The way on

void sluice_envoy_reply(sluice_envoy_filter filter, uint32_t status, field *fields, size_t count, text body,
                        text details) {
  if (is_new()) {
    typedef void send(void *, uint32_t, field *, size_t, text, text);
    AS(send, http_send_response);
    call(filter, status, fields, count, body, details);
  } else {
    typedef void send(void *, uint32_t, field *, size_t, const char *, size_t);
    AS(send, http_send_response);
    call(filter, status, fields, count, body.bytes, body.length);
  }
}

void sluice_envoy_continue(sluice_envoy_filter filter, bool is_request) {
  if (is_request) {
    CALLBACK(http_filter_continue_decoding)(filter);
  } else {
    CALLBACK(http_filter_continue_encoding)(filter);
  }
}

sluice_envoy_scheduler sluice_envoy_scheduler_new(sluice_envoy_filter filter) {
  return CALLBACK(http_filter_scheduler_new)(filter);
}

void sluice_envoy_scheduler_commit(sluice_envoy_scheduler scheduler) {
  CALLBACK(http_filter_scheduler_commit)(scheduler, 0);
}

void sluice_envoy_scheduler_delete(sluice_envoy_scheduler scheduler) {
  CALLBACK(http_filter_scheduler_delete)(scheduler);
}

// MARK: Facts

static const text name_space = {"sluice", 6};
/// Envoy's number for metadata of the stream.
enum { DYNAMIC_METADATA = 0 };

void sluice_envoy_note(sluice_envoy_filter filter, text key, text value) {
  if (is_new()) {
    typedef void set(void *, text, text, text);
    AS(set, http_set_dynamic_metadata_string);
    call(filter, name_space, key, value);
  } else {
    typedef bool set(void *, const char *, size_t, const char *, size_t, const char *, size_t);
    AS(set, http_set_dynamic_metadata_string);
    (void)call(filter, name_space.bytes, name_space.length, key.bytes, key.length, value.bytes,
               value.length);
  }
}

bool sluice_envoy_noted(sluice_envoy_filter filter, text key, text *value) {
  if (is_new()) {
    typedef bool get(void *, uint32_t, text, text, text *);
    AS(get, http_get_metadata_string);
    return call(filter, DYNAMIC_METADATA, name_space, key, value);
  }
  typedef bool get(void *, uint32_t, const char *, size_t, const char *, size_t, const char **, size_t *);
  AS(get, http_get_metadata_string);
  return call(filter, DYNAMIC_METADATA, name_space.bytes, name_space.length, key.bytes, key.length,
              &value->bytes, &value->length);
}

bool sluice_envoy_attribute(sluice_envoy_filter filter, enum sluice_envoy_attribute attribute, text *value) {
  if (is_new()) {
    typedef bool get(void *, uint32_t, text *);
    AS(get, http_filter_get_attribute_string);
    return call(filter, attribute, value);
  }
  typedef bool get(void *, uint32_t, const char **, size_t *);
  AS(get, http_filter_get_attribute_string);
  return call(filter, attribute, &value->bytes, &value->length);
}

typedef void any_function(void);

bool sluice_envoy_define(void *envoy, bool is_counter, text name, size_t *id) {
  any_function *function =
      is_counter ? CALLBACK(http_filter_config_define_counter) : CALLBACK(http_filter_config_define_gauge);
  // The result 0 is success.
  if (is_new()) {
    typedef uint32_t define(void *, text, text *, size_t, size_t *);
    return ((define *)function)(envoy, name, NULL, 0, id) == 0;
  }
  typedef uint32_t define(void *, const char *, size_t, size_t *);
  return ((define *)function)(envoy, name.bytes, name.length, id) == 0;
}

static void report(any_function *function, sluice_envoy_filter filter, size_t id, uint64_t value) {
  if (is_new()) {
    typedef uint32_t change(void *, size_t, text *, size_t, uint64_t);
    (void)((change *)function)(filter, id, NULL, 0, value);
  } else {
    typedef uint32_t change(void *, size_t, uint64_t);
    (void)((change *)function)(filter, id, value);
  }
}

void sluice_envoy_count(sluice_envoy_filter filter, size_t counter, uint64_t value) {
  report(CALLBACK(http_filter_increment_counter), filter, counter, value);
}

void sluice_envoy_measure(sluice_envoy_filter filter, size_t gauge, uint64_t value) {
  report(CALLBACK(http_filter_set_gauge), filter, gauge, value);
}

void sluice_envoy_log(enum sluice_envoy_level level, text line) {
  if (CALLBACK(log) == NULL) return;
  if (is_new()) {
    typedef void write_line(uint32_t, text);
    AS(write_line, log);
    call(level, line);
  } else {
    typedef void write_line(uint32_t, const char *, size_t);
    AS(write_line, log);
    call(level, line.bytes, line.length);
  }
}

size_t sluice_envoy_thread_number(void) {
  static size_t threads;
  static _Thread_local size_t number;
  if (number == 0) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  return number - 1;
}
