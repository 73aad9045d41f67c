/// Cases that a plugin checks itself with before a swap: the table `sluice.selftest/1`.
#ifndef SLUICE_SELFTEST_H
#define SLUICE_SELFTEST_H

#include <stdint.h>

#include <sluice/error.h>
#include <sluice/status.h>

#define SLUICE_SELFTEST_ID "sluice.selftest/1"

typedef struct sluice_selftest_case {
  uint32_t size;
  uint32_t reserved;
  /// Stable, `[a-z0-9-]`.
  const char *name;
  const char *description;
  /// A request document to run through the instance, and the document that must come out; NULL where `run` does it all.
  const char *request;
  const char *expected_request;
  /// A response document likewise, given to on_response.
  const char *response;
  const char *expected_response;
} sluice_selftest_case;

typedef struct sluice_selftest {
  uint32_t size;
  uint32_t count;
  /// `count` pointers to cases that live as long as the library is mapped.
  const sluice_selftest_case *const *cases;
  /// Runs what the documents of the case at that index cannot say; NULL where there is nothing more. [control]
  sluice_status (*run)(void *instance, uint32_t index, sluice_error *error);
} sluice_selftest;

#endif
