#include "testing.h"

int testing_failures;

int keep_promises(const char *subject, const promise *promises, size_t count) {
  size_t failed = 0;
  for (size_t i = 0; i < count; i++) {
    testing_failures = 0;
    promises[i].check();
    if (testing_failures == 0) continue;
    failed++;
    fprintf(stderr, "%s: broken: %s\n", subject, promises[i].sentence);
  }
  printf("%s: %zu passed, %zu failed\n", subject, count - failed, failed);
  return failed > 0;
}
