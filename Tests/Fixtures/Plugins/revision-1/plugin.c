// A plugin that uses every table and every function of revision 1. Each later build of Sluice must still load the
// library that was built from it. The library beside this source was built once from it:
//
//     cd Tests/Fixtures/Plugins/revision-1
//     cc -std=c11 -O2 -shared -fPIC -fvisibility=hidden -s -I ../../../../include plugin.c -ljansson -o plugin-x86_64.so
//
// Never build it again once revision 1 is released. The header `x-do` of a request says what to do with it.
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <sluice/sluice.h>

typedef struct instance {
  const sluice_host *host;
  const sluice_timers *timers;
  const sluice_callout *callout;
  const sluice_metrics *metrics;
  const sluice_values *values;
  const sluice_completions *completions;
  sluice_metric requests;
  sluice_timer schedule;
  /// The number of requests since the state was loaded.
  atomic_int count;
  char user[32];
} instance;

/// What is kept for a transaction.
typedef struct transaction {
  int hints;
  int redirects;
} transaction;

static sluice_text text(const char *string) { return sluice_text_make(string); }

static const sluice_exchange_api *api_of(const instance *self) { return self->host->exchange; }

/// Adds `name=value` to the header `x-told` of a message.
static void tell(const instance *self, sluice_exchange *exchange, sluice_side side, const char *name, sluice_text value) {
  char line[512];
  snprintf(line, sizeof line, "%s=%.*s", name, (int)value.size, value.data ? value.data : "");
  api_of(self)->header_add(exchange, side, text("x-told"), text(line));
}

static void tell_number(
    const instance *self, sluice_exchange *exchange, sluice_side side, const char *name, long long number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", number);
  tell(self, exchange, side, name, text(digits));
}

/// A copy of a text as a C string, cut to the given capacity.
static void copy(char *to, size_t capacity, sluice_text value) {
  size_t size = value.size < capacity - 1 ? value.size : capacity - 1;
  if (size) memcpy(to, value.data, size);
  to[size] = 0;
}

// Suspension, timers, call-outs.

typedef struct waiting {
  instance *self;
  sluice_token token;
} waiting;

static void go_on(void *context) {
  waiting *wait = context;
  const sluice_host *host = wait->self->host;
  sluice_exchange *exchange = host->enter(host, wait->token);
  if (exchange) tell_number(wait->self, exchange, SLUICE_SIDE_REQUEST, "entered", 1);
  host->resume(host, wait->token, exchange ? SLUICE_VERDICT_CONTINUE : SLUICE_VERDICT_FAIL);
  free(wait);
}

static void did_call(void *context, const sluice_call_result *result) {
  waiting *wait = context;
  const sluice_host *host = wait->self->host;
  sluice_exchange *exchange = host->enter(host, wait->token);
  if (exchange && result->has_response) {
    tell_number(
        wait->self, exchange, SLUICE_SIDE_REQUEST, "called",
        json_integer_value(json_object_get(result->response, "status")));
  }
  host->resume(host, wait->token, exchange ? SLUICE_VERDICT_CONTINUE : SLUICE_VERDICT_FAIL);
  free(wait);
}

static void never(void *context) {
  (void)context;
  abort();
}

static sluice_verdict suspend(instance *self, sluice_exchange *exchange, const char *what) {
  const sluice_host *host = self->host;
  sluice_context context = SLUICE_SIZED(sluice_context);
  waiting *wait = calloc(1, sizeof *wait);
  if (!wait) return SLUICE_VERDICT_FAIL;
  wait->self = self;
  if (api_of(self)->context(exchange, &context) != SLUICE_STATUS_OK ||
      api_of(self)->suspend(exchange, &wait->token) != SLUICE_STATUS_OK) {
    free(wait);
    return SLUICE_VERDICT_FAIL;
  }
  if (strcmp(what, "wait") == 0) {
    sluice_timer unwanted = 0;
    self->timers->start(host, UINT64_C(3600000000000), never, NULL, &unwanted);
    if (self->timers->cancel(host, unwanted) == SLUICE_STATUS_OK &&
        self->timers->start(host, 1000000, go_on, wait, NULL) == SLUICE_STATUS_OK) {
      return SLUICE_VERDICT_SUSPENDED;
    }
  } else if (strcmp(what, "call") == 0) {
    sluice_call_options options = SLUICE_SIZED(sluice_call_options);
    options.parent = wait->token;
    options.maximum_response_bytes = 65536;
    char url[256];
    copy(url, sizeof url, sluice_request_header(host, exchange, "x-url"));
    json_t *request = json_pack("{s:s, s:s}", "method", "GET", "url", url);
    sluice_call call = 0;
    sluice_status status = self->callout->start(host, request, &options, did_call, wait, &call);
    json_decref(request);
    if (status == SLUICE_STATUS_OK) return SLUICE_VERDICT_SUSPENDED;
  } else if (host->post(host, context.loop, go_on, wait) == SLUICE_STATUS_OK) {
    return SLUICE_VERDICT_SUSPENDED;
  }
  host->resume(host, wait->token, SLUICE_VERDICT_FAIL);
  free(wait);
  return SLUICE_VERDICT_SUSPENDED;
}

// sluice.interceptor/1

static void describe(instance *self, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(self);
  sluice_context context = SLUICE_SIZED(sluice_context);
  sluice_text value = {NULL, 0}, name = {NULL, 0};
  sluice_bytes bytes = {NULL, 0};
  uint64_t size = 0;
  api->context(exchange, &context);
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "attempt", context.attempt);
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "hop", context.hop);
  tell(self, exchange, SLUICE_SIDE_REQUEST, "path", context.path);
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "bounded", context.remaining_ns != UINT64_MAX);
  api->method_get(exchange, &value);
  tell(self, exchange, SLUICE_SIDE_REQUEST, "method", value);
  api->url_get(exchange, &value);
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "url", value.size > 0);
  api->header_at(exchange, SLUICE_SIDE_REQUEST, 0, &name, &value);
  tell(self, exchange, SLUICE_SIDE_REQUEST, "first", name);
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "status", api->status_get(exchange));
  if (api->body_get(exchange, SLUICE_SIDE_REQUEST, &bytes) == SLUICE_STATUS_OK) {
    tell(self, exchange, SLUICE_SIDE_REQUEST, "body", sluice_bytes_text(bytes));
  }
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "file", api->body_file(exchange, SLUICE_SIDE_REQUEST, &value, &size));
  json_t *document = api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ);
  tell(self, exchange, SLUICE_SIDE_REQUEST, "document", text(json_string_value(json_object_get(document, "method"))));
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "may", api->may_call(exchange, SLUICE_CALL_SUSPEND));
  tell_number(self, exchange, SLUICE_SIDE_REQUEST, "may-not", api->may_call(exchange, SLUICE_CALL_WRITE_RESPONSE));
}

static void change(instance *self, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(self);
  sluice_text url;
  char changed[512];
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-secret"), text("s3cret"));
  api->header_mark(exchange, SLUICE_SIDE_REQUEST, text("x-secret"), SLUICE_HEADER_SENSITIVE);
  api->header_remove(exchange, SLUICE_SIDE_REQUEST, text("x-drop"));
  api->method_set(exchange, text("PUT"));
  api->url_get(exchange, &url);
  snprintf(changed, sizeof changed, "%.*s?changed", (int)url.size, url.data);
  api->url_set(exchange, text(changed));
  api->body_set(exchange, SLUICE_SIDE_REQUEST, sluice_text_bytes(text("changed")));
  api->limit_set(exchange, SLUICE_LIMIT_RESPONSE_BYTES, 1 << 20);
}

static sluice_verdict on_request(void *context, sluice_exchange *exchange) {
  instance *self = context;
  const sluice_host *host = self->host;
  const sluice_exchange_api *api = api_of(self);
  char what[32], path[512];
  copy(what, sizeof what, sluice_request_header(host, exchange, "x-do"));
  const sluice_text labels[] = {text(what)};
  self->metrics->record(host, self->requests, labels, 1);
  self->values->add(host, text("requests"), 1, NULL);
  atomic_fetch_add(&self->count, 1);
  if (!api->data_get(exchange)) api->data_set(exchange, calloc(1, sizeof(transaction)), free);
  if (strcmp(what, "describe") == 0) describe(self, exchange);
  if (strcmp(what, "change") == 0) change(self, exchange);
  if (strcmp(what, "file") == 0) {
    copy(path, sizeof path, sluice_request_header(host, exchange, "x-path"));
    tell_number(
        self, exchange, SLUICE_SIDE_REQUEST, "file",
        api->body_set_file(exchange, SLUICE_SIDE_REQUEST, text(path), 0));
  }
  if (strcmp(what, "respond") == 0) {
    sluice_verdict verdict = api->respond(exchange, 200);
    api->status_set(exchange, 207);
    api->body_set(exchange, SLUICE_SIDE_RESPONSE, sluice_text_bytes(text("made here")));
    return verdict;
  }
  if (strcmp(what, "fail") == 0) return sluice_fail(host, exchange, "by_order", "it was asked to");
  if (strcmp(what, "post") == 0 || strcmp(what, "wait") == 0 || strcmp(what, "call") == 0) {
    return suspend(self, exchange, what);
  }
  if (strcmp(what, "hang") == 0) {
    sluice_token token;
    return api->suspend(exchange, &token) == SLUICE_STATUS_OK ? SLUICE_VERDICT_SUSPENDED : SLUICE_VERDICT_FAIL;
  }
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *context, sluice_exchange *exchange) {
  sluice_set_request_header(((instance *)context)->host, exchange, "x-issued", "yes");
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_redirect(void *context, sluice_exchange *exchange, const sluice_redirect *redirect) {
  transaction *kept = api_of(context)->data_get(exchange);
  kept->redirects += redirect->status == 307 && redirect->keeps_body && !redirect->is_cross_origin;
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_challenge(void *context, sluice_exchange *exchange, const sluice_challenge *challenge) {
  instance *self = context;
  if (!sluice_text_equals(challenge->scheme, "Basic") || challenge->answered > 0) return SLUICE_VERDICT_CONTINUE;
  return api_of(self)->challenge_answer(exchange, text(self->user), text("password"));
}

static sluice_verdict on_response(void *context, sluice_exchange *exchange) {
  instance *self = context;
  const sluice_exchange_api *api = api_of(self);
  sluice_context facts = SLUICE_SIZED(sluice_context);
  sluice_text issued = {NULL, 0};
  const transaction *kept = api->data_get(exchange);
  api->context(exchange, &facts);
  if (api->status_get(exchange) == 503 && facts.attempt == 0) return api->retry(exchange, 1000000);
  api->issued_header_get(exchange, text("x-issued"), &issued);
  tell(self, exchange, SLUICE_SIDE_RESPONSE, "issued", issued);
  tell_number(self, exchange, SLUICE_SIDE_RESPONSE, "attempt", facts.attempt);
  tell_number(self, exchange, SLUICE_SIDE_RESPONSE, "hints", kept ? kept->hints : -1);
  tell_number(self, exchange, SLUICE_SIDE_RESPONSE, "redirects", kept ? kept->redirects : -1);
  json_t *document = api->json(exchange, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE);
  json_object_set_new(json_object_get(document, "headers"), "x-document", json_string("written"));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_failure(void *context, sluice_exchange *exchange, const sluice_failure *failure) {
  instance *self = context;
  if (!failure->is_before_sending) return SLUICE_VERDICT_CONTINUE;
  sluice_verdict verdict = api_of(self)->respond(exchange, 502);
  tell(self, exchange, SLUICE_SIDE_RESPONSE, "failure", failure->code);
  return verdict;
}

static void on_cancel(void *context, sluice_token token) {
  instance *self = context;
  (void)token;
  self->values->add(self->host, text("cancelled"), 1, NULL);
}

static void on_informational(void *context, sluice_exchange *exchange, const sluice_informational *response) {
  transaction *kept = api_of(context)->data_get(exchange);
  if (response->status == 103 && response->field_count == 1) kept->hints++;
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_redirect = on_redirect,
                 .on_challenge = on_challenge, .on_response = on_response, .on_failure = on_failure,
                 .on_cancel = on_cancel, .on_informational = on_informational);

// sluice.body/1: puts brackets around each piece of a response, and a mark after the last.

static sluice_body_verdict on_chunk(void *context, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  const sluice_exchange_api *api = api_of(context);
  api->body_write(exchange, side, sluice_text_bytes(text("[")));
  api->body_write(exchange, side, piece);
  api->body_write(exchange, side, sluice_text_bytes(text("]")));
  return SLUICE_BODY_VERDICT_TAKEN;
}

static sluice_body_verdict on_end(void *context, sluice_exchange *exchange, sluice_side side) {
  const sluice_exchange_api *api = api_of(context);
  api->body_write(exchange, side, sluice_text_bytes(text(".")));
  api->trailer_add(exchange, side, text("x-trailer"), text("added"));
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_trailer(
    void *context, sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  (void)context, (void)exchange, (void)side, (void)value;
  return name.size == 6 && strncasecmp(name.data, "x-drop", 6) == 0 ? SLUICE_BODY_VERDICT_TAKEN : SLUICE_BODY_VERDICT_PASS;
}

static const sluice_body body = SLUICE_TABLE(
    sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk, .on_end = on_end, .on_trailer = on_trailer);

// sluice.tracer/1: logs each event as `KIND/HOP/STATUS/OUTCOME`.

static void on_event(void *context, const sluice_event *event) {
  instance *self = context;
  char line[128];
  snprintf(
      line, sizeof line, "event %u/%u/%u/%u%s%s", event->kind, event->hop, event->status, event->outcome,
      event->timings ? " timings" : "", event->exchange && event->method.size && event->url.size ? "" : " incomplete");
  sluice_log(self->host, SLUICE_LOG_INFO, line);
}

static const sluice_tracer tracer = SLUICE_TABLE(
    sluice_tracer,
    .interests = SLUICE_INTEREST(SLUICE_EVENT_DID_ISSUE) | SLUICE_INTEREST(SLUICE_EVENT_DID_RECEIVE) |
                 SLUICE_INTEREST(SLUICE_EVENT_DID_END_HOP) | SLUICE_INTEREST(SLUICE_EVENT_DID_COMPLETE),
    .on_event = on_event);

// sluice.state/1

static json_t *save(void *context, sluice_error *error) {
  (void)error;
  return json_pack("{s:i}", "count", atomic_load(&((instance *)context)->count));
}

static sluice_status load(void *context, json_t *saved, uint32_t from_version, sluice_error *error) {
  if (from_version != 3) return sluice_error_set(error, "version %u instead of 3", from_version);
  atomic_store(&((instance *)context)->count, (int)json_integer_value(json_object_get(saved, "count")));
  return SLUICE_STATUS_OK;
}

static const sluice_state state =
    SLUICE_TABLE(sluice_state, .flags = SLUICE_STATE_OPTIONAL, .version = 3, .save = save, .load = load);

// sluice.notifications/1

static sluice_status on_notification(
    void *context, sluice_text topic, json_t *payload, sluice_completion completion) {
  instance *self = context;
  if (!sluice_text_equals(topic, "count")) return SLUICE_STATUS_ABSENT;
  bool is_count = json_integer_value(payload) == atomic_load(&self->count);
  self->completions->complete(self->host, completion, is_count ? SLUICE_WORK_NEW_DATA : SLUICE_WORK_FAILED);
  return SLUICE_STATUS_OK;
}

static void on_schedule(void *context, sluice_text name, sluice_completion completion) {
  instance *self = context;
  char line[64];
  snprintf(line, sizeof line, "due: %.*s", (int)name.size, name.data);
  sluice_log(self->host, SLUICE_LOG_INFO, line);
  self->completions->complete(self->host, completion, SLUICE_WORK_NO_DATA);
  self->timers->cancel(self->host, self->schedule);
}

static const sluice_notifications notifications =
    SLUICE_TABLE(sluice_notifications, .on_notification = on_notification, .on_schedule = on_schedule);

// sluice.selftest/1

static sluice_status run(void *context, uint32_t index, sluice_error *error) {
  return index == 0 && context ? SLUICE_STATUS_OK : sluice_error_set(error, "there is no case %u", index);
}

static const sluice_selftest_case issues =
    SLUICE_TABLE(sluice_selftest_case, .name = "issues", .description = "A header is set when a hop is issued.",
                 .request = "{\"method\": \"GET\", \"url\": \"http://example.com/\"}",
                 .expected_request = "{\"headers\": {\"x-issued\": \"yes\"}}",
                 .response = "{\"status\": 200, \"headers\": {}}",
                 .expected_response = "{\"headers\": {\"x-document\": \"written\"}}",
                 .config = "{\"user\": \"tester\"}");
static const sluice_selftest_case *const cases[] = {&issues};
static const sluice_selftest selftest = SLUICE_TABLE(sluice_selftest, .count = 1, .cases = cases, .run = run);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_BODY_ID, &body},
                  {SLUICE_TRACER_ID, &tracer}, {SLUICE_STATE_ID, &state}, {SLUICE_NOTIFICATIONS_ID, &notifications},
                  {SLUICE_SELFTEST_ID, &selftest});

// sluice_plugin

static sluice_status create(const sluice_host *host, json_t *config, void **made, sluice_error *error) {
  instance *self = calloc(1, sizeof *self);
  if (!self) return SLUICE_STATUS_NO_MEMORY;
  self->host = host;
  self->timers = host->extension(host, SLUICE_TIMERS_ID);
  self->callout = host->extension(host, SLUICE_CALLOUT_ID);
  self->metrics = host->extension(host, SLUICE_METRICS_ID);
  self->values = host->extension(host, SLUICE_VALUES_ID);
  self->completions = host->extension(host, SLUICE_COMPLETIONS_ID);
  copy(self->user, sizeof self->user, text(json_string_value(json_object_get(config, "user"))));
  const char *const labels[] = {"what"};
  const sluice_metric_definition requests =
      SLUICE_TABLE(sluice_metric_definition, .kind = SLUICE_METRIC_COUNTER, .name = "requests",
                   .description = "Requests.", .unit = "{request}", .labels = labels, .label_count = 1);
  if (!SLUICE_HAS(self->timers, cancel) || !SLUICE_HAS(self->callout, cancel) || !SLUICE_HAS(self->metrics, record) ||
      !SLUICE_HAS(self->values, compare_exchange) || !SLUICE_HAS(self->completions, complete) ||
      self->metrics->define(host, &requests, &self->requests) != SLUICE_STATUS_OK) {
    free(self);
    return sluice_error_set(error, "the host lacks a part of revision 1");
  }
  *made = self;
  return SLUICE_STATUS_OK;
}

static sluice_status activate(void *context, sluice_error *error) {
  instance *self = context;
  int64_t found = 0;
  if (self->values->compare_exchange(self->host, text("activations"), &found, 1) == SLUICE_STATUS_ABSENT) {
    self->values->compare_exchange(self->host, text("activations"), &found, found + 1);
  }
  self->values->get(self->host, text("activations"), &found);
  char line[128];
  snprintf(
      line, sizeof line, "activation %d of %.*s in revision %u, count %d, %s", (int)found,
      (int)self->host->instance_name.size, self->host->instance_name.data, self->host->abi, atomic_load(&self->count),
      self->host->clock_ns(self->host) > 0 ? "clock" : "no clock");
  sluice_log(self->host, SLUICE_LOG_INFO, line);
  sluice_status status = self->timers->schedule(
      self->host, text("tick"), 10000000, UINT64_C(5000000000), &self->schedule);
  return status == SLUICE_STATUS_OK ? status : sluice_error_set(error, "schedule answered %d", status);
}

static void deactivate(void *context, uint64_t timeout_ns) {
  sluice_log(((instance *)context)->host, SLUICE_LOG_INFO, timeout_ns > 0 ? "deactivated" : "no time");
}

SLUICE_PLUGIN("org.example.revision-1", "1.0.0", .summary = "Uses all of revision 1.",
              .config_schema = "{\"type\": \"object\", \"required\": [\"user\"], \"additionalProperties\": false, "
                               "\"properties\": {\"user\": {\"type\": \"string\", \"default\": \"somebody\"}}}",
              .create = create, .activate = activate, .deactivate = deactivate, .destroy = free,
              .extension = extension);

SLUICE_REQUIRES(suspend);
SLUICE_REQUIRES(respond);
SLUICE_REQUIRES(retry);
SLUICE_REQUIRES(request_body);
SLUICE_REQUIRES(response_body);
SLUICE_REQUIRES(streamed_body);
SLUICE_REQUIRES(timers);
SLUICE_REQUIRES(callout);
SLUICE_REQUIRES(metrics);
SLUICE_REQUIRES(values);
SLUICE_REQUIRES(hops);
SLUICE_REQUIRES(rewrite);
SLUICE_REQUIRES(response);
SLUICE_REQUIRES(document);
SLUICE_REQUIRES(notifications);
