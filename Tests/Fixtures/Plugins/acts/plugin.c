// Executes statements of the test, such as chdir("/"), when the library is loaded, and in three of its calls.
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../stage.h"

/// Blocks a signal in the calling thread.
#define BLOCK                                 \
  do {                                        \
    sigset_t set;                             \
    sigemptyset(&set);                        \
    sigaddset(&set, SIGUSR1);                 \
    pthread_sigmask(SIG_BLOCK, &set, NULL);   \
  } while (0)

#ifndef IN_LOAD
#define IN_LOAD (void)0
#endif
#ifndef IN_CREATE
#define IN_CREATE (void)0
#endif
#ifndef IN_ACTIVATE
#define IN_ACTIVATE (void)0
#endif
#ifndef IN_REQUEST
#define IN_REQUEST (void)0
#endif

__attribute__((constructor)) static void load(void) { IN_LOAD; }

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  IN_CREATE;
  return fixture_create(host, config, instance, error);
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  IN_ACTIVATE;
  return SLUICE_STATUS_OK;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  IN_REQUEST;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
FIXTURE_PLUGIN(.create = create, .destroy = fixture_destroy, .activate = activate, .extension = extension);
