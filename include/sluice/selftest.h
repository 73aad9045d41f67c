/// Cases that a plugin checks itself with before a swap, and in `sluice plugin validate`: the table `sluice.selftest/1`.
///
/// They are run in a trial run (SLUICE_HOST_PROBE), in a child process. A case runs on an instance that was created and, unlike
/// any other, not activated: what needs a file or a connection that `activate` opens is none for a case.
#ifndef SLUICE_SELFTEST_H
#define SLUICE_SELFTEST_H

#include <stdint.h>

#include <sluice/error.h>
#include <sluice/status.h>

#define SLUICE_SELFTEST_ID "sluice.selftest/1"

/// The documents of a case go the whole way of a transaction: on_request, on_issue, a wire that is not there, on_response.
///
/// Only the members that an expected document names are compared, also within `headers` and `body`; `null` stands for a
/// member that must not exist. Lists are compared as a whole.
typedef struct sluice_selftest_case {
  uint32_t size;
  uint32_t reserved;
  /// Stable, `[a-z0-9-]`.
  const char *name;
  const char *description;
  /// A request document; NULL for a GET of http://example.com/.
  const char *request;
  /// What must be on the wire in the end; NULL where that does not matter.
  const char *expected_request;
  /// A response document for the wire to answer with; NULL for a 200 without a body.
  const char *response;
  /// What the caller must get in the end; NULL where that does not matter.
  const char *expected_response;
  /// The configuration, as JSON, of an instance that is made for this case; NULL has it run on the one with the configuration
  /// that the user has written.
  const char *config;
} sluice_selftest_case;

typedef struct sluice_selftest {
  uint32_t size;
  uint32_t count;
  /// `count` pointers to cases that live as long as the library is mapped.
  const sluice_selftest_case *const *cases;
  /// Runs what the documents of the case at that index cannot say, after them; SLUICE_OK where all is well, else the message
  /// says what is wrong. A case without any document is this alone. NULL where there is nothing more. [control]
  sluice_status (*run)(void *instance, uint32_t index, sluice_error *error);
} sluice_selftest;

#endif
