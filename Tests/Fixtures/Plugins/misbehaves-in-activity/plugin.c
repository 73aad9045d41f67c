// Breaks one rule, depending on which of these macros is defined: PRINTS, LEAVES_THREAD, LEAVES_FILE, HANDLES_SIGNAL,
// SLOW_DEACTIVATE, NEVER_RESUMES, CRASHES_ON_BYTES, OPENS_IN_CREATE, SILENT_REFUSAL, OVERLAPS, INVENTS_TABLES,
// EXPORTS_MORE, WRITES_EARLY, NEEDS_TIMERS, USES_TIMERS,
// USES_TIMERS_LATER, ONLY_ISSUES, NEEDS_REWRITE, KEEPS_LIST. If none is defined, it is correct.
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <sluice/draft/origins.h>

#include "../stage.h"

#ifdef EXPORTS_MORE
int stray_symbol;
#endif

__attribute__((unused)) static void *wait_for_ever(void *context) {
  for (;;) pause();
  return context;
}

#ifdef USES_TIMERS_LATER
static const sluice_timers *kept_timers;
#endif

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
#ifdef OPENS_IN_CREATE
  open("/dev/null", O_RDONLY);
#endif
#ifdef SILENT_REFUSAL
  if (!json_is_object(config)) return SLUICE_STATUS_FAILED;
#endif
#ifdef NEEDS_TIMERS
  if (!host->extension(host, SLUICE_TIMERS_ID)) return sluice_error_set(error, "no timers");
#endif
#ifdef USES_TIMERS
  const sluice_timers *timers = host->extension(host, SLUICE_TIMERS_ID);
  timers->cancel(host, 1);
#endif
#ifdef USES_TIMERS_LATER
  kept_timers = host->extension(host, SLUICE_TIMERS_ID);
#endif
#ifdef KEEPS_LIST
  const sluice_origins *origins = host->extension(host, SLUICE_ORIGINS_ID);
  sluice_origin_list *list;
  json_t *hosts = json_pack("[s]", "a.example");
  origins->read(host, hosts, "hosts", &list, error);
  json_decref(hosts);
#endif
  return fixture_create(host, config, instance, error);
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
#ifdef LEAVES_THREAD
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_ever, NULL);
#endif
#ifdef LEAVES_FILE
  open("/dev/null", O_RDONLY);
#endif
#ifdef HANDLES_SIGNAL
  signal(SIGUSR1, SIG_IGN);
#endif
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)instance, (void)deadline;
#ifdef SLOW_DEACTIVATE
  sleep(3);
#endif
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
#ifdef PRINTS
  puts("a request");
#endif
#ifdef CRASHES_ON_BYTES
  sluice_text value = sluice_request_header(host_of(instance), exchange, "x-a");
  if (value.size > 0 && (unsigned char)value.data[0] >= 0x80) abort();
#endif
#ifdef OVERLAPS
  // Each call waits until a second call runs at the same time, which happens if there is more than one loop.
  static int calls;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) > 1) abort();
  for (int waits = 0; waits < 30000 && __atomic_load_n(&calls, __ATOMIC_SEQ_CST) < 2; waits++) usleep(1000);
  __atomic_sub_fetch(&calls, 1, __ATOMIC_SEQ_CST);
#endif
#ifdef WRITES_EARLY
  api_of(instance)->status_set(exchange, 204);
#endif
#ifdef USES_TIMERS_LATER
  kept_timers->cancel(host_of(instance), 1);
#endif
#ifdef NEEDS_REWRITE
  if (api_of(instance)->method_set(exchange, text("PUT")) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
#endif
#ifdef NEVER_RESUMES
  sluice_token token;
  if (host_of(instance)->exchange->suspend(exchange, &token) == SLUICE_STATUS_OK) return SLUICE_VERDICT_SUSPENDED;
#endif
  return SLUICE_VERDICT_CONTINUE;
}

static const void *extension(const char *id) {
#ifdef ONLY_ISSUES
  static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_issue = on_request);
#else
  static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
#endif
#ifdef INVENTS_TABLES
  return &interceptor;
#endif
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &interceptor : NULL;
}

FIXTURE_PLUGIN(
    .create = create, .activate = activate, .deactivate = deactivate, .destroy = fixture_destroy,
    .extension = extension);
