/// Self-test cases of a plugin, which run before a swap and in `sluice plugin validate`: the table `sluice.selftest/1`.
///
/// They run in a trial (SLUICE_HOST_TRIAL), in a child process. A case runs on an instance that was created but, unlike
/// any other instance, not activated: a case must not depend on anything that `activate` opens.
#ifndef SLUICE_SELFTEST_H
#define SLUICE_SELFTEST_H

#include <stdint.h>

#include <sluice/error.h>
#include <sluice/status.h>

#define SLUICE_SELFTEST_ID "sluice.selftest/1"

/// The documents of a case pass through all steps of a transaction: on_request, on_issue, a simulated wire,
/// on_response.
///
/// Only the members that an expected document names are compared, also within `headers` and `body`; `null` means that a
/// member must not exist, and `{}` that it exists, with any value. Lists are compared as a whole.
typedef struct sluice_selftest_case {
  uint32_t size;
  uint32_t reserved;
  /// Stable, `[a-z0-9-]`.
  const char *name;
  const char *description;
  /// A request document; NULL for a GET of http://example.com/.
  const char *request;
  /// The expected request on the wire; with NULL it is not compared.
  const char *expected_request;
  /// The response document with which the wire answers; NULL for a 200 without a body.
  const char *response;
  /// The expected response for the caller; with NULL it is not compared. With the member `error`, as in result
  /// documents, the transaction must fail: `{"error": {"code": "no_token"}}`.
  const char *expected_response;
  /// The configuration, as JSON, of an instance that is created for this case; with NULL the case runs on the instance
  /// with the user's configuration.
  const char *config;
  /// The time of `wall_clock_ns` (`host.h`) during the case, in nanoseconds since 1970-01-01T00:00:00Z; 0 for the time
  /// of the system.
  uint64_t wall_clock_ns;
} sluice_selftest_case;
#define SLUICE_SELFTEST_CASE_SIZE_1 64u

typedef struct sluice_selftest {
  uint32_t size;
  uint32_t count;
  /// `count` pointers to cases that live as long as the library is mapped.
  const sluice_selftest_case *const *cases;
  /// Checks what the documents of the case at that index cannot express. Called after the documents of the case were
  /// compared; if the case has no documents, there is no comparison before. Returns SLUICE_STATUS_OK, or a failure with
  /// a message that says what is wrong. May be NULL. [control]
  sluice_status (*run)(void *instance, uint32_t index, sluice_error *error);
} sluice_selftest;
#define SLUICE_SELFTEST_SIZE_1 24u

#endif
