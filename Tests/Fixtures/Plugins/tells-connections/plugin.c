// Logs the facts about each hop's connection: in calls before the issue, in the issue call, in calls after it, and in
// events. With ASKS_LATE it asks for the table in the first on_response, otherwise in activate.
#include <inttypes.h>
#include <sluice/draft/connection.h>

#include "../stage.h"

static const sluice_connection *connections;

static sluice_status ask(void *instance) {
  connections = host_of(instance)->extension(host_of(instance), SLUICE_CONNECTION_ID);
  return SLUICE_HAS(connections, get) ? SLUICE_STATUS_OK : SLUICE_STATUS_UNSUPPORTED;
}

static void tell_facts(void *instance, const sluice_connection_facts *facts, const char *when) {
  char line[512];
  snprintf(
      line, sizeof line, "%s=id %" PRIu64 " version %u reused %u secure %u peer %.*s:%u local %.*s:%u %.*s %.*s der %zu %02x", when,
      facts->id, facts->http_version, facts->is_reused, facts->is_secure, (int)facts->peer_address.size,
      facts->peer_address.data, facts->peer_port, (int)facts->local_address.size, facts->local_address.data,
      facts->local_port, (int)facts->tls_version.size, facts->tls_version.data, (int)facts->tls_cipher.size,
      facts->tls_cipher.data, facts->certificate.size, facts->certificate.size ? facts->certificate.data[0] : 0);
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
}

static void tell_connection(void *instance, sluice_exchange *exchange, const char *when) {
  if (!connections) return tell_text(instance, when, text("not asked"));
  sluice_connection_facts facts = {.size = sizeof facts};
  sluice_status status = connections->get(exchange, &facts);
  if (status == SLUICE_STATUS_OK) return tell_facts(instance, &facts, when);
  char line[64];
  snprintf(line, sizeof line, "%s=status %d", when, (int)status);
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  tell_connection(instance, exchange, "request");
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  tell_connection(instance, exchange, "issue");
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
#ifdef ASKS_LATE
  ask(instance);
#endif
  tell_connection(instance, exchange, "response");
  // A caller that passes a smaller structure gets only the members that fit into it. Memory beyond the caller's size
  // stays unchanged.
  struct {
    uint32_t size, http_version;
    uint64_t rest;
  } small = {8, 7, 7};
  connections->get(exchange, (sluice_connection_facts *)(void *)&small);
  tell(instance, "small", (long)(small.http_version * 100 + small.rest));
  return SLUICE_VERDICT_CONTINUE;
}

static void on_event(void *instance, const sluice_event *event) {
  const char *when = "complete-event";
  if (event->kind == SLUICE_EVENT_DID_RECEIVE) when = "receive-event";
  if (event->kind == SLUICE_EVENT_DID_END_HOP) when = "end-event";
  if (event->connection) {
    tell_facts(instance, event->connection, when);
  } else {
    tell_text(instance, when, text("none"));
  }
  if (!event->exchange) return;
  if (event->kind == SLUICE_EVENT_DID_END_HOP) tell_connection(instance, event->exchange, "end");
  if (event->kind == SLUICE_EVENT_DID_COMPLETE) tell_connection(instance, event->exchange, "complete");
}

static const sluice_interceptor interceptor = SLUICE_TABLE(
    sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_response = on_response);
static const sluice_tracer tracer = SLUICE_TABLE(
    sluice_tracer,
    .interests = SLUICE_INTEREST(SLUICE_EVENT_DID_RECEIVE) | SLUICE_INTEREST(SLUICE_EVENT_DID_END_HOP) | SLUICE_INTEREST(SLUICE_EVENT_DID_COMPLETE),
    .on_event = on_event);

static sluice_status activate(void *instance, sluice_error *error) {
#ifdef ASKS_LATE
  (void)instance, (void)error;
  return SLUICE_STATUS_OK;
#else
  return ask(instance) == SLUICE_STATUS_OK ? SLUICE_STATUS_OK : sluice_error_set(error, "no facts about connections");
#endif
}

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});

FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = extension);
