/// Says who sent a request: in a header, and as a member of a body that is a JSON object.
#include <sluice/sluice.h>

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = (const sluice_host *)instance;
  if (sluice_set_request_header(host, exchange, "x-stamp", "c-plugin") != SLUICE_STATUS_OK) {
    return sluice_fail(host, exchange, "stamp", "stamp: the host refused x-stamp");
  }
  // The document is first opened only for reading. A document that is opened for writing becomes authoritative, which
  // costs a conversion.
  const uint32_t look = SLUICE_JSON_READ | SLUICE_JSON_BODY;
  const json_t *seen = host->exchange->json(exchange, SLUICE_SIDE_REQUEST, look);
  if (!json_is_object(json_object_get(json_object_get(seen, "body"), "json"))) return SLUICE_VERDICT_CONTINUE;

  json_t *document = host->exchange->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  json_t *body = json_object_get(json_object_get(document, "body"), "json");
  if (json_object_set_new(body, "stampedBy", json_string("c-plugin")) != 0) {
    return sluice_fail(host, exchange, "stamp", "stamp: out of memory");
  }
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor,
                 SLUICE_SET(wants, SLUICE_WANTS_REQUEST_BODY),
                 SLUICE_SET(on_request, on_request));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});

// The plugin is useless in a host without request bodies and JSON documents.
SLUICE_REQUIRES(request_body);
SLUICE_REQUIRES(document);
SLUICE_PLUGIN("org.example.stamp", "1.0.0",
              SLUICE_SET(summary, "Says who sent a request"),
              SLUICE_UNCONFIGURED,
              SLUICE_SET(extension, extension));
