// Executes DOES in create, or with WHERE=destroy in destroy: hang(), exit(7), abort() or leave_thread().
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fixture.h"

#ifndef WHERE
#define WHERE create
#endif

enum { create, destroy };

__attribute__((unused)) static void hang(void) {
  for (;;) pause();
}

__attribute__((unused)) static void *wait_for_ever(void *context) {
  hang();
  return context;
}

__attribute__((unused)) static void leave_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_ever, NULL);
}

static sluice_status create_badly(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  // The output contains a secret, which must not appear in a message.
  const char *token = json_string_value(json_object_get(config, "token"));
  if (token) fprintf(stderr, "my token is %s\n", token);
  if (WHERE == create) DOES;
  return fixture_create(host, config, instance, error);
}

static void destroy_badly(void *instance) {
  (void)instance;
  if (WHERE == destroy) DOES;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});

FIXTURE_PLUGIN(.create = create_badly, .destroy = destroy_badly, .extension = extension);
