// Tables that are short, complete, longer than this revision knows, or wrong.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

/// Ends behind on_request: what lies behind it in memory is no part of the table.
static const struct {
  sluice_interceptor table;
} interceptor = {{.size = offsetof(sluice_interceptor, on_issue), .flags = SLUICE_FLAG_SERIAL, .on_request = on_request,
                  .on_issue = (sluice_verdict(*)(void *, sluice_exchange *))0x1}};
static const struct {
  sluice_notifications table;
  void *of_a_newer_revision;
} notifications = {{.size = sizeof notifications}, (void *)0x1};
static const sluice_body body = {.size = sizeof body, .sides = SLUICE_BODY_SIDE_RESPONSE};
static const sluice_tracer tracer = {.size = 4};

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  if (strcmp(id, SLUICE_NOTIFICATIONS_ID) == 0) return &notifications;
  if (strcmp(id, SLUICE_BODY_ID) == 0) return &body;
  return strcmp(id, SLUICE_TRACER_ID) == 0 ? &tracer : NULL;
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = extension};
FIXTURE_ENTRY(&plugin)
