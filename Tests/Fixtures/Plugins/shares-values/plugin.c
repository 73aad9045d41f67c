// Shares values with the other instances of its plugin, and makes every call that a host must refuse. Logs each status
// as `name=number`.
#include <pthread.h>
#include <sluice/draft/shared.h>

#include "../stage.h"

static const sluice_shared *shared;

static const uint64_t forever = UINT64_MAX;

static void share(void *instance) {
  const sluice_host *host = host_of(instance);
  char buffer[8] = "";
  size_t size = 99;
  uint64_t first = 0, second = 0, version = 99;
  tell(instance, "absent", shared->get(host, text("a"), buffer, sizeof buffer, &size, &version));
  tell(instance, "absent-size", (long)size + (long)version);
  tell(instance, "put", shared->put(host, text("a"), bytes_of("one"), forever, &first));
  tell(instance, "get", shared->get(host, text("a"), buffer, sizeof buffer, &size, &version));
  tell(instance, "same-version", version == first && first > 0 && size == 3 && memcmp(buffer, "one", 4) == 0);
  tell(instance, "get-without-places", shared->get(host, text("a"), buffer, 3, NULL, NULL));
  memset(buffer, 'x', sizeof buffer);
  tell(instance, "small-buffer", shared->get(host, text("a"), buffer, 2, &size, &version));
  tell(instance, "untouched", buffer[0] == 'x' && size == 3 && version == first);
  tell(instance, "no-buffer", shared->get(host, text("a"), NULL, 0, &size, NULL));
  tell(instance, "put-again", shared->put(host, text("a"), bytes_of("two"), forever, &second));
  tell(instance, "greater", second > first);

  version = first;
  tell(instance, "exchange-stale", shared->compare_exchange(host, text("a"), &version, bytes_of("3"), forever));
  tell(instance, "told-current", version == second);
  tell(instance, "exchange", shared->compare_exchange(host, text("a"), &version, bytes_of("3"), forever));
  tell(instance, "told-new", version > second);
  uint64_t none = 0;
  tell(instance, "exchange-present", shared->compare_exchange(host, text("a"), &none, bytes_of("4"), forever));
  tell(instance, "told-present", none == version);
  none = 0;
  tell(instance, "exchange-new", shared->compare_exchange(host, text("b"), &none, (sluice_bytes){NULL, 0}, forever));
  tell(instance, "empty", shared->get(host, text("b"), NULL, 0, &size, NULL));
  uint64_t unknown = UINT64_MAX;
  tell(instance, "exchange-unknown", shared->compare_exchange(host, text("c"), &unknown, bytes_of("5"), forever));
  tell(instance, "told-absent", unknown == 0);

  tell(instance, "remove-stale", shared->remove(host, text("a"), first));
  tell(instance, "remove", shared->remove(host, text("a"), version));
  tell(instance, "remove-again", shared->remove(host, text("a"), 0));
  tell(instance, "remove-any", shared->remove(host, text("b"), 0));
}

static void share_refused(void *instance) {
  const sluice_host *host = host_of(instance);
  static char large[SLUICE_SHARED_VALUE_BYTES + 1];
  char name[SLUICE_SHARED_NAME_BYTES + 1];
  memset(name, 'n', sizeof name);
  sluice_bytes one = bytes_of("1");
  uint64_t version = 0;
  tell(instance, "no-name", shared->put(host, (sluice_text){NULL, 0}, one, forever, NULL));
  tell(instance, "no-name-address", shared->put(host, (sluice_text){NULL, 1}, one, forever, NULL));
  tell(instance, "forged-name", shared->put(host, (sluice_text){"a", SIZE_MAX}, one, forever, NULL));
  tell(instance, "long-name", shared->put(host, (sluice_text){name, sizeof name}, one, forever, NULL));
  tell(instance, "no-value-address", shared->put(host, text("r"), (sluice_bytes){NULL, 1}, forever, NULL));
  tell(instance, "forged-value", shared->put(host, text("r"), (sluice_bytes){one.data, SIZE_MAX}, forever, NULL));
  tell(
      instance, "large-value",
      shared->put(host, text("r"), (sluice_bytes){(const uint8_t *)large, sizeof large}, forever, NULL));
  tell(instance, "no-timeout", shared->put(host, text("r"), one, 0, NULL));
  tell(instance, "no-version", shared->compare_exchange(host, text("r"), NULL, one, forever));
  tell(instance, "no-buffer-address", shared->get(host, text("r"), NULL, 1, NULL, &version));
  tell(instance, "forged-capacity", shared->get(host, text("r"), name, SIZE_MAX, NULL, &version));
  tell(instance, "no-host", shared->put(NULL, text("r"), one, forever, NULL));
  tell(instance, "nothing-set", shared->get(host, text("r"), NULL, 0, NULL, NULL));
  tell(instance, "longest-name", shared->put(host, (sluice_text){name, sizeof name - 1}, one, 1, NULL));
  // Only fifteen values of the largest size fit, because each name takes space too.
  long count = 0;
  for (; count < 100; count++) {
    name[0] = (char)('0' + count);
    sluice_bytes value = {(const uint8_t *)large, sizeof large - 1};
    if (shared->put(host, (sluice_text){name, 1}, value, forever, NULL) == SLUICE_STATUS_LIMIT) break;
  }
  tell(instance, "room", count);
  for (; count >= 0; count--) {
    name[0] = (char)('0' + count);
    shared->remove(host, (sluice_text){name, 1}, 0);
  }
}

static void *share_elsewhere(void *instance) {
  tell(instance, "elsewhere", shared->put(host_of(instance), text("e"), bytes_of("1"), forever, NULL));
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  share(instance);
  share_refused(instance);
  pthread_t thread;
  if (pthread_create(&thread, NULL, share_elsewhere, instance) == 0) pthread_join(thread, NULL);
  return SLUICE_VERDICT_CONTINUE;
}

/// Counts the created instances, in a value that all of them share.
static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  shared = host->extension(host, SLUICE_SHARED_ID);
  if (!SLUICE_HAS(shared, remove)) return sluice_error_set(error, "no shared values");
  *instance = (void *)host;
  char count = 0;
  uint64_t version = 0;
  shared->get(host, text("instances"), &count, 1, NULL, &version);
  count++;
  sluice_bytes bytes = {(const uint8_t *)&count, 1};
  tell(*instance, "create", shared->compare_exchange(host, text("instances"), &version, bytes, forever));
  tell(*instance, "instances", count);
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) {
  tell(instance, "destroy", shared->put(host_of(instance), text("d"), bytes_of("1"), forever, NULL));
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
FIXTURE_PLUGIN(.create = create, .destroy = destroy, .extension = extension);
