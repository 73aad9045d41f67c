// If the file PLACE/armed exists, writes its process id to PLACE/stopped and stops forever at the point AT of its
// lifecycle. In the child process of a trial it does not stop, unless AT is the trial itself.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../stage.h"

enum { TRIAL, CONSTRUCTOR, ENTRY, CREATE, LOAD, ACTIVATE, DEACTIVATE, DESTROY, SAVE };

/// The helper that runs trials is the same command, so it is recognized by its arguments.
static int is_trial(void) {
  char words[4096];
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? 0 : read(file, words, sizeof words);
  close(file);
  for (ssize_t place = 0; place + 5 < count; place++) {
    if (memcmp(words + place, "trial", 6) == 0) return 1;
  }
  return 0;
}

static void pass(int place) {
  if (access(PLACE "/armed", F_OK) != 0 || place != (is_trial() ? TRIAL : AT)) return;
  if (is_trial() && AT != TRIAL) return;
  FILE *file = fopen(PLACE "/stopped", "we");
  if (file) {
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
  }
  for (;;) pause();
}

__attribute__((constructor)) static void construct(void) {
  pass(TRIAL);
  pass(CONSTRUCTOR);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config, (void)error;
  pass(CREATE);
  *instance = (void *)host;
  return SLUICE_STATUS_OK;
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  pass(ACTIVATE);
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)instance, (void)deadline;
  pass(DEACTIVATE);
}

static void destroy(void *instance) {
  (void)instance;
  pass(DESTROY);
}

static json_t *save(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  pass(SAVE);
  return json_object();
}

static sluice_status load(void *instance, json_t *state, uint32_t version, sluice_error *error) {
  (void)instance, (void)state, (void)version, (void)error;
  pass(LOAD);
  return SLUICE_STATUS_OK;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  api_of(instance)->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-build"), text(BUILD));
  return SLUICE_VERDICT_CONTINUE;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
  static const sluice_state state = SLUICE_TABLE(sluice_state, .version = 1, .save = save, .load = load);
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  return strcmp(id, SLUICE_STATE_ID) == 0 ? (const void *)&state : NULL;
}

SLUICE_PLUGIN_NOTE("1.0.0");
static const sluice_plugin plugin = SLUICE_TABLE(
    sluice_plugin, .abi = SLUICE_ABI_VERSION, .id = "fixture", .version = "1.0.0", .summary = "A fixture.",
    .create = create, .activate = activate, .deactivate = deactivate, .destroy = destroy,
    .extension = extension);

const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
  (void)host, (void)abi, (void)error;
  pass(ENTRY);
  return &plugin;
}
