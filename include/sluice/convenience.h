/// Functions that call those of an exchange with C strings. All are inline: a plugin does not link a library of Sluice.
#ifndef SLUICE_CONVENIENCE_H
#define SLUICE_CONVENIENCE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sluice/error.h>
#include <sluice/exchange.h>
#include <sluice/host.h>
#include <sluice/text.h>

/// A C string as a text; NULL becomes the empty text. [any]
static inline sluice_text sluice_text_make(const char *string) {
  sluice_text text = {string, string ? strlen(string) : 0};
  return text;
}

/// The bytes of a text, for the functions of bodies. [any]
static inline sluice_bytes sluice_text_bytes(sluice_text text) {
  sluice_bytes bytes = {(const uint8_t *)text.data, text.size};
  return bytes;
}

/// The time on the wall clock, in nanoseconds since 1970-01-01T00:00:00Z: that of the host, or of the system with an older
/// host. [any]
static inline uint64_t sluice_wall_clock_ns(const sluice_host *host) {
  if (SLUICE_HAS(host, wall_clock_ns)) return host->wall_clock_ns(host);
#ifdef TIME_UTC
  struct timespec now = {0, 0};
  timespec_get(&now, TIME_UTC);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
  return (uint64_t)time(NULL) * 1000000000u;
#endif
}

/// Bytes as a text, whatever they contain. [any]
static inline sluice_text sluice_bytes_text(sluice_bytes bytes) {
  sluice_text text = {(const char *)bytes.data, bytes.size};
  return text;
}

/// Whether a text equals the C string, byte by byte. [any]
static inline int sluice_text_equals(sluice_text text, const char *string) {
  size_t size = strlen(string);
  return text.size == size && (size == 0 || memcmp(text.data, string, size) == 0);
}

/// Writes a message like printf and returns SLUICE_STATUS_FAILED, so that it can follow `return`. [any]
__attribute__((format(printf, 2, 3))) static inline sluice_status sluice_error_set(
    sluice_error *error, const char *format, ...) {
  if (error && error->message && error->capacity) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, error->capacity, format, arguments);
    va_end(arguments);
  }
  return SLUICE_STATUS_FAILED;
}

/// The first value of a header of the request or the response, as `side` says; `data` is NULL only if there is no such
/// header. [loop]
static inline sluice_text sluice_header(
    const sluice_host *host, sluice_exchange *exchange, sluice_side side, const char *name) {
  sluice_text value = {NULL, 0};
  sluice_status status = host->exchange->header_get(exchange, side, sluice_text_make(name), &value);
  if (status == SLUICE_STATUS_OK && !value.data) value.data = "";
  return value;
}

/// The first value of a request header; `data` is NULL without such a header. [loop]
static inline sluice_text sluice_request_header(
    const sluice_host *host, sluice_exchange *exchange, const char *name) {
  return sluice_header(host, exchange, SLUICE_SIDE_REQUEST, name);
}

/// The first value of a response header; `data` is NULL without such a header. [loop]
static inline sluice_text sluice_response_header(
    const sluice_host *host, sluice_exchange *exchange, const char *name) {
  return sluice_header(host, exchange, SLUICE_SIDE_RESPONSE, name);
}

/// Sets a request header. [loop]
static inline sluice_status sluice_set_request_header(
    const sluice_host *host, sluice_exchange *exchange, const char *name, const char *value) {
  return host->exchange->header_set(exchange, SLUICE_SIDE_REQUEST, sluice_text_make(name), sluice_text_make(value));
}

/// Sets a response header. [loop]
static inline sluice_status sluice_set_response_header(
    const sluice_host *host, sluice_exchange *exchange, const char *name, const char *value) {
  return host->exchange->header_set(exchange, SLUICE_SIDE_RESPONSE, sluice_text_make(name), sluice_text_make(value));
}

/// Ends the transaction with an error; the stage must return the verdict that this function returns. [loop]
static inline sluice_verdict sluice_fail(
    const sluice_host *host, sluice_exchange *exchange, const char *code, const char *message) {
  return host->exchange->fail(exchange, sluice_text_make(code), sluice_text_make(message));
}

/// Writes a log line. [any]
static inline void sluice_log(const sluice_host *host, sluice_log_level level, const char *message) {
  host->log(host, level, sluice_text_make(message));
}

#endif
