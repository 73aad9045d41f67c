// Takes a configuration for each of its places: `{"name": "…"}`. In each call, it adds the name of the place to the
// header `x-places`, or `-` if the place has no configuration, and logs `CALL=NAME`.
#include <pthread.h>
#include <sluice/draft/stage.h>

#include "../stage.h"

// Flags of the interceptor.
#ifndef FLAGS
#define FLAGS 0
#endif
// The size that the table states, and the last member of the table.
#ifndef STAGE_SIZE
#define STAGE_SIZE sizeof(sluice_stage)
#endif
#ifndef DESTROY
#define DESTROY destroy_stage
#endif
// With SILENT_REFUSAL it refuses a configuration without a name, and gives no reason.

static const sluice_places *places;

typedef struct place {
  char name[32];
  /// Whether on_request suspends.
  int suspends;
} place;

static const char *name_of(sluice_exchange *exchange) {
  const place *here = places->current(exchange);
  return here ? here->name : "-";
}

static void tell_name(void *instance, const char *call, const char *name) {
  char line[64];
  snprintf(line, sizeof line, "%s=%s", call, name);
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
}

static void add_name(void *instance, sluice_exchange *exchange, sluice_side side) {
  sluice_text before = sluice_header(host_of(instance), exchange, side, "x-places");
  char value[256];
  snprintf(value, sizeof value, "%.*s%s", (int)before.size, before.size ? before.data : "", name_of(exchange));
  api_of(instance)->header_set(exchange, side, text("x-places"), text(value));
}

typedef struct waiting {
  void *instance;
  sluice_token token;
} waiting;

static void go_on(void *context) {
  waiting *self = context;
  const sluice_host *host = host_of(self->instance);
  sluice_exchange *exchange = host->enter(host, self->token);
  if (exchange) {
    tell_name(self->instance, "entered", name_of(exchange));
    add_name(self->instance, exchange, SLUICE_SIDE_REQUEST);
  }
  host->resume(host, self->token, SLUICE_VERDICT_CONTINUE);
  free(self);
}

static void *ask_elsewhere(void *exchange) { return places->current(exchange); }

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const place *here = places->current(exchange);
  tell_name(instance, "request", name_of(exchange));
  if (sluice_text_equals(sluice_request_header(host_of(instance), exchange, "do"), "hostile")) {
    tell(instance, "null", places->current(NULL) != NULL);
    tell(instance, "forged", places->current((sluice_exchange *)((uintptr_t)exchange ^ 2)) != NULL);
    pthread_t thread;
    void *found = instance;
    if (pthread_create(&thread, NULL, ask_elsewhere, exchange) == 0) pthread_join(thread, &found);
    tell(instance, "elsewhere", found != NULL);
  }
  if (here && here->suspends) {
    waiting *self = calloc(1, sizeof *self);
    sluice_context context = SLUICE_SIZED(sluice_context);
    if (!self) abort();
    self->instance = instance;
    api_of(instance)->context(exchange, &context);
    if (api_of(instance)->suspend(exchange, &self->token) == SLUICE_STATUS_OK) {
      host_of(instance)->post(host_of(instance), context.loop, go_on, self);
      return SLUICE_VERDICT_SUSPENDED;
    }
    free(self);
  }
  add_name(instance, exchange, SLUICE_SIDE_REQUEST);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  tell_name(instance, "issue", name_of(exchange));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  add_name(instance, exchange, SLUICE_SIDE_RESPONSE);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  (void)failure;
  tell_name(instance, "failure", name_of(exchange));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)redirect;
  tell_name(instance, "redirect", name_of(exchange));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_status create_stage(void *instance, json_t *config, void **stage, sluice_error *error) {
  const char *name = json_string_value(json_object_get(config, "name"));
  if (name && strcmp(name, "refused") == 0) return sluice_error_set(error, "refused it is");
#ifdef SILENT_REFUSAL
  if (!name) return SLUICE_STATUS_FAILED;
#endif
  if (name && strcmp(name, "null") == 0) return SLUICE_STATUS_OK;
  place *made = calloc(1, sizeof *made);
  if (!made) return SLUICE_STATUS_NO_MEMORY;
  snprintf(made->name, sizeof made->name, "%s", name ? name : "?");
  made->suspends = json_is_true(json_object_get(config, "suspends"));
  tell_name(instance, "created", made->name);
  *stage = made;
  return SLUICE_STATUS_OK;
}

__attribute__((unused)) static void destroy_stage(void *instance, void *stage) {
  tell_name(instance, "destroyed", ((place *)stage)->name);
  free(stage);
}

static void on_event(void *instance, const sluice_event *event) {
  tell_name(instance, "event", name_of(event->exchange));
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  tell(instance, "activated", 1);
  return SLUICE_STATUS_OK;
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  places = host->extension(host, SLUICE_PLACES_ID);
  if (!SLUICE_HAS(places, current)) return sluice_error_set(error, "no places");
  *instance = (void *)host;
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) { tell(instance, "ended", 1); }

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_issue = on_issue,
                 .on_response = on_response, .on_failure = on_failure, .on_redirect = on_redirect);
static const sluice_tracer tracer =
    SLUICE_TABLE(sluice_tracer, .interests = SLUICE_INTEREST(SLUICE_EVENT_DID_COMPLETE), .on_event = on_event);
static const sluice_stage stage = {
    .size = STAGE_SIZE,
    .config_schema = "{\"type\": \"object\", \"additionalProperties\": false, \"properties\":"
                     " {\"name\": {\"type\": \"string\"}, \"suspends\": {\"type\": \"boolean\"}}}",
    .create_stage = create_stage,
    .destroy_stage = DESTROY};

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer},
                  {SLUICE_STAGE_ID, &stage});
FIXTURE_PLUGIN(.create = create, .activate = activate, .destroy = destroy, .extension = extension);
