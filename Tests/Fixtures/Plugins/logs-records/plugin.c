// Writes structured log records: valid ones, and every kind that a host must refuse. Logs each status as `name=number`.
#include <math.h>
#include <pthread.h>
#include <sluice/draft/attributes.h>
#include <sluice/draft/log.h>

#include "../stage.h"

static const sluice_logger *logger;
static const sluice_attributes *attributes;

static sluice_log_record record_of(sluice_text message) {
  sluice_log_record record = SLUICE_SIZED(sluice_log_record);
  record.level = SLUICE_LOG_WARNING;
  record.message = message;
  return record;
}

static void write_with(void *instance, const char *name, sluice_attribute attribute) {
  sluice_log_record record = record_of(text(name));
  record.attributes = &attribute;
  record.attribute_count = 1;
  tell(instance, name, logger->write(host_of(instance), &record));
}

static void write_refused(void *instance) {
  const sluice_host *host = host_of(instance);
  char long_name[130];
  memset(long_name, 'a', sizeof long_name);
  sluice_attribute attribute = sluice_attribute_integer("a", 1);

  sluice_log_record record = record_of(text("no"));
  tell(instance, "null-record", logger->write(host, NULL));
  record.size = 47;
  tell(instance, "short-record", logger->write(host, &record));
  record = record_of(text("no"));
  record.level = 4;
  tell(instance, "unknown-level", logger->write(host, &record));
  record = record_of((sluice_text){NULL, 3});
  tell(instance, "no-message-address", logger->write(host, &record));
  record = record_of((sluice_text){"x", SIZE_MAX});
  tell(instance, "forged-message-size", logger->write(host, &record));
  record = record_of(text("no"));
  record.attribute_count = 1;
  tell(instance, "no-attributes-address", logger->write(host, &record));
  record.attributes = &attribute;
  record.attribute_count = SLUICE_ATTRIBUTE_COUNT + 1;
  tell(instance, "too-many", logger->write(host, &record));
  record.attribute_count = SIZE_MAX;
  tell(instance, "forged-count", logger->write(host, &record));

  write_with(instance, "empty-name", sluice_attribute_integer("", 1));
  write_with(instance, "digit-first", sluice_attribute_integer("1a", 1));
  write_with(instance, "space-in-name", sluice_attribute_integer("a b", 1));
  attribute.name = (sluice_text){long_name, 129};
  write_with(instance, "long-name", attribute);
  attribute.name = (sluice_text){NULL, 1};
  write_with(instance, "no-name-address", attribute);
  attribute = sluice_attribute_integer("a", 1);
  attribute.kind = 0;
  write_with(instance, "no-kind", attribute);
  attribute.kind = 5;
  write_with(instance, "unknown-kind", attribute);
  attribute = sluice_attribute_integer("a", 1);
  attribute.flags = 2;
  write_with(instance, "unknown-flag", attribute);
  write_with(instance, "not-a-number", sluice_attribute_number("a", NAN));
  write_with(instance, "infinite", sluice_attribute_number("a", INFINITY));
  attribute = sluice_attribute_bool("a", 1);
  attribute.integer = 2;
  write_with(instance, "neither", attribute);
  write_with(instance, "no-text-address", sluice_attribute_text("a", (sluice_text){NULL, 1}));
  tell(instance, "enabled-unknown", logger->is_enabled(host, 9));
  tell(instance, "enabled-without-host", logger->is_enabled(NULL, 1));
}

static void *write_elsewhere(void *context) {
  sluice_log_record record = record_of(text("elsewhere"));
  record.exchange = ((void **)context)[1];
  tell(((void **)context)[0], "elsewhere-with-exchange", logger->write(((void **)context)[0], &record));
  record.exchange = NULL;
  tell(((void **)context)[0], "elsewhere", logger->write(((void **)context)[0], &record));
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  static const char *const levels[] = {"enabled-debug", "enabled-info", "enabled-warning", "enabled-error"};
  for (uint32_t level = 0; level < 4; level++) tell(instance, levels[level], logger->is_enabled(host, level));

  static char long_text[5000];
  memset(long_text, 'l', sizeof long_text);
  sluice_attribute all[] = {
      sluice_attribute_text("a.text", text("one\ntwo \"x\"")),
      sluice_attribute_integer("a.integer", INT64_MIN),
      sluice_attribute_number("a.number", 1.5),
      sluice_attribute_bool("a.bool", 1),
      sluice_attribute_text("a.secret", text("s3cret")),
      sluice_attribute_text("a.long", (sluice_text){long_text, sizeof long_text}),
      sluice_attribute_text("a.bytes", (sluice_text){"a\xff", 2}),
      sluice_attribute_text("a.empty", (sluice_text){NULL, 0}),
      sluice_attribute_text("both", text("record")),
      sluice_attribute_integer("a.number", 2),
  };
  all[4].flags = SLUICE_ATTRIBUTE_SENSITIVE;
  sluice_attribute both = sluice_attribute_text("both", text("transaction"));
  sluice_attribute own = sluice_attribute_text("of.transaction", text("three\nfour"));
  tell(instance, "set", attributes->set(exchange, &both) | attributes->set(exchange, &own));
  sluice_log_record record = record_of(text("whole\nrecord"));
  record.attributes = all;
  record.attribute_count = sizeof all / sizeof all[0];
  record.exchange = exchange;
  tell(instance, "whole", logger->write(host, &record));

  record = record_of(text("quiet"));
  record.level = SLUICE_LOG_DEBUG;
  tell(instance, "quiet", logger->write(host, &record));

  write_refused(instance);
  record = record_of(text("kept"));
  record.exchange = (sluice_exchange *)((uintptr_t)exchange ^ 2);
  tell(instance, "forged-exchange", logger->write(host, &record));
  void *context[] = {instance, exchange};
  pthread_t thread;
  if (pthread_create(&thread, NULL, write_elsewhere, context) == 0) pthread_join(thread, NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  logger = host->extension(host, SLUICE_LOG_ID);
  attributes = host->extension(host, SLUICE_ATTRIBUTES_ID);
  if (!SLUICE_HAS(logger, write) || !SLUICE_HAS(attributes, at)) return sluice_error_set(error, "no tables");
  sluice_log_record record = record_of(text("in create"));
  *instance = (void *)host;
  tell(*instance, "create", logger->write(host, &record));
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) {
  sluice_log_record record = record_of(text("in destroy"));
  tell(instance, "destroy", logger->write(host_of(instance), &record));
}

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
FIXTURE_PLUGIN(.create = create, .destroy = destroy, .extension = extension);
