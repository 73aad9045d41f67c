// Logs the facts about the client's connection, in each call and in the last event. With BLOCKING, the stage runs on
// another thread.
#include <sluice/draft/connection.h>

#include "../stage.h"

static void tell_client(void *instance, sluice_exchange *exchange, const char *when) {
  const sluice_client *clients = host_of(instance)->extension(host_of(instance), SLUICE_CLIENT_ID);
  if (!SLUICE_HAS(clients, get)) return tell_text(instance, when, text("no table"));
  sluice_connection_facts facts = {.size = sizeof facts};
  sluice_status status = clients->get(exchange, &facts);
  if (status != SLUICE_STATUS_OK) return tell(instance, when, status);
  char line[512];
  snprintf(
      line, sizeof line, "version %u reused %u secure %u peer %.*s local %.*s:%u %.*s name %.*s der %zu %02x",
      facts.http_version, facts.is_reused, facts.is_secure, (int)facts.peer_address.size, facts.peer_address.data,
      (int)facts.local_address.size, facts.local_address.data, facts.local_port, (int)facts.tls_version.size,
      facts.tls_version.data, (int)facts.server_name.size, facts.server_name.data, facts.certificate.size,
      facts.certificate.size ? facts.certificate.data[facts.certificate.size - 1] : 0);
  tell_text(instance, when, text(line));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  tell_client(instance, exchange, "request");
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  tell_client(instance, exchange, "issue");
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  tell_client(instance, exchange, "response");
  return SLUICE_VERDICT_CONTINUE;
}

static void on_event(void *instance, const sluice_event *event) {
  tell_client(instance, event->exchange, "complete");
}

static const sluice_interceptor interceptor = SLUICE_TABLE(
    sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_response = on_response);
static const sluice_tracer tracer = SLUICE_TABLE(
    sluice_tracer, .interests = SLUICE_INTEREST(SLUICE_EVENT_DID_COMPLETE), .on_event = on_event);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
