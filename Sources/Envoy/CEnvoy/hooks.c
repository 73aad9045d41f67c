// The functions that Envoy looks up in the module. Envoy refuses a module that lacks one of them.
#include "CEnvoy.h"

#define HOOK(name) envoy_dynamic_module_on_##name
typedef sluice_envoy_text text;

const char *HOOK(program_init)(void);
const char *HOOK(program_init)(void) { return sluice_envoy_version_mark(); }

// Envoy 1.36 passes addresses and lengths instead of texts. On x86-64 and arm64 these are in the same registers.
const void *HOOK(http_filter_config_new)(void *, text, text);
const void *HOOK(http_filter_config_new)(void *envoy, text name, text configuration) {
  return sluice_envoy_host_open(envoy, name, configuration);
}

void HOOK(http_filter_config_destroy)(const void *);
void HOOK(http_filter_config_destroy)(const void *configuration) { sluice_envoy_host_close(configuration); }

const void *HOOK(http_filter_new)(const void *, void *);
const void *HOOK(http_filter_new)(const void *configuration, void *filter) {
  return sluice_envoy_host_begin(configuration, filter);
}

void HOOK(http_filter_stream_complete)(void *, const void *);
void HOOK(http_filter_stream_complete)(void *filter, const void *stream) {
  (void)filter;
  sluice_envoy_host_complete(stream);
}

void HOOK(http_filter_destroy)(const void *);
void HOOK(http_filter_destroy)(const void *stream) { sluice_envoy_host_end(stream); }

uint32_t HOOK(http_filter_request_headers)(void *, const void *, bool);
uint32_t HOOK(http_filter_request_headers)(void *filter, const void *stream, bool is_last) {
  (void)filter;
  return sluice_envoy_host_headers(stream, true, is_last);
}

uint32_t HOOK(http_filter_request_body)(void *, const void *, bool);
uint32_t HOOK(http_filter_request_body)(void *filter, const void *stream, bool is_last) {
  (void)filter;
  return sluice_envoy_host_body(stream, true, is_last);
}

uint32_t HOOK(http_filter_request_trailers)(void *, const void *);
uint32_t HOOK(http_filter_request_trailers)(void *filter, const void *stream) {
  (void)filter;
  return sluice_envoy_host_trailers(stream, true);
}

uint32_t HOOK(http_filter_response_headers)(void *, const void *, bool);
uint32_t HOOK(http_filter_response_headers)(void *filter, const void *stream, bool is_last) {
  (void)filter;
  return sluice_envoy_host_headers(stream, false, is_last);
}

uint32_t HOOK(http_filter_response_body)(void *, const void *, bool);
uint32_t HOOK(http_filter_response_body)(void *filter, const void *stream, bool is_last) {
  (void)filter;
  return sluice_envoy_host_body(stream, false, is_last);
}

uint32_t HOOK(http_filter_response_trailers)(void *, const void *);
uint32_t HOOK(http_filter_response_trailers)(void *filter, const void *stream) {
  (void)filter;
  return sluice_envoy_host_trailers(stream, false);
}

void HOOK(http_filter_scheduled)(void *, const void *, uint64_t);
void HOOK(http_filter_scheduled)(void *filter, const void *stream, uint64_t event) {
  (void)filter, (void)event;
  sluice_envoy_host_scheduled(stream);
}

// The module uses nothing of what these hooks report.
#define UNUSED_HOOK(name)                                  \
  void HOOK(name)(void *filter, const void *stream);      \
  void HOOK(name)(void *filter, const void *stream) {     \
    (void)filter, (void)stream;                           \
  }
UNUSED_HOOK(http_filter_http_callout_done)
UNUSED_HOOK(http_filter_http_stream_headers)
UNUSED_HOOK(http_filter_http_stream_data)
UNUSED_HOOK(http_filter_http_stream_trailers)
UNUSED_HOOK(http_filter_http_stream_complete)
UNUSED_HOOK(http_filter_http_stream_reset)
UNUSED_HOOK(http_filter_downstream_above_write_buffer_high_watermark)
UNUSED_HOOK(http_filter_downstream_below_write_buffer_low_watermark)

const void *HOOK(http_filter_per_route_config_new)(text, text);
const void *HOOK(http_filter_per_route_config_new)(text name, text configuration) {
  (void)name, (void)configuration;
  text line = {"sluice: the module has no configuration by route", 48};
  sluice_envoy_log(SLUICE_ENVOY_ERROR, line);
  return NULL;
}

void HOOK(http_filter_per_route_config_destroy)(const void *);
void HOOK(http_filter_per_route_config_destroy)(const void *configuration) { (void)configuration; }
