// While a call is under way, uses the call's exchange on a thread of the plugin.
#include <pthread.h>

#include "../stage.h"

struct use {
  void *instance;
  sluice_exchange *exchange;
};

static void *use(void *context) {
  struct use *use = context;
  sluice_status status = sluice_set_request_header(host_of(use->instance), use->exchange, "x-thread", "yes");
  tell(use->instance, "set", status);
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  struct use context = {instance, exchange};
  pthread_t thread;
  pthread_create(&thread, NULL, use, &context);
  pthread_join(thread, NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
