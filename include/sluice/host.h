/// The engine as a plugin sees it.
#ifndef SLUICE_HOST_H
#define SLUICE_HOST_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/status.h>
#include <sluice/text.h>
#include <sluice/token.h>
#include <sluice/verdict.h>

typedef struct sluice_host sluice_host;

typedef uint32_t sluice_log_level;
enum { SLUICE_LOG_DEBUG = 0, SLUICE_LOG_INFO = 1, SLUICE_LOG_WARNING = 2, SLUICE_LOG_ERROR = 3 };

/// Flags of a host; ignore unknown flags.
enum {
  /// The plugin is being tried out in a child process: call-outs are refused or get a made-up answer, and the plugin
  /// must not change anything outside the process.
  SLUICE_HOST_TRIAL = 1,
  /// Requests come from several clients, as in a gateway: what the plugin keeps of the responses to one client must not
  /// go to another, unless HTTP allows it.
  SLUICE_HOST_SHARED = 2
};

/// Features of a host beyond the tables in `sluice_host`; SLUICE_REQUIRES (note.h) names the features that a plugin
/// requires.
enum {
  /// The functions `suspend`, `resume`, `enter` and `post`.
  SLUICE_FEATURE_SUSPEND = 1,
  /// The function `respond`, in on_request and on_failure.
  SLUICE_FEATURE_RESPOND = 2,
  SLUICE_FEATURE_RETRY = 4,
  /// The bodies that SLUICE_WANTS_REQUEST_BODY and SLUICE_WANTS_RESPONSE_BODY ask for, and the functions and documents
  /// that read or set them.
  SLUICE_FEATURE_REQUEST_BODY = 8,
  SLUICE_FEATURE_RESPONSE_BODY = 16,
  /// `sluice.body/1`.
  SLUICE_FEATURE_STREAMED_BODY = 32,
  /// The host has the table `sluice.timers/1`. The next three features are tables of the host, too.
  SLUICE_FEATURE_TIMERS = 64,
  SLUICE_FEATURE_CALLOUT = 128,
  SLUICE_FEATURE_METRICS = 256,
  SLUICE_FEATURE_VALUES = 512,
  /// on_issue, on_redirect and on_challenge are called for every hop.
  SLUICE_FEATURE_HOPS = 1024,
  /// Method and URL can be changed in on_request.
  SLUICE_FEATURE_REWRITE = 2048,
  /// on_response and on_failure are called, and the caller gets the changed response.
  SLUICE_FEATURE_RESPONSE = 4096,
  /// The function `json`, with all its flags.
  SLUICE_FEATURE_DOCUMENT = 8192,
  /// Notifications and schedules are delivered: `sluice.completions/1`, and `schedule` of `sluice.timers/1`.
  SLUICE_FEATURE_NOTIFICATIONS = 16384
};

/// Each instance has its own host. The host that `create` gets is valid until `destroy` returns. The host that the
/// entry point gets is valid only during that call.
struct sluice_host {
  uint32_t size;
  /// The ABI revision that the host speaks with this plugin.
  uint32_t abi;
  uint32_t flags;
  /// The SLUICE_FEATURE_… bits that this host offers. The functions of a feature that the host does not offer have no
  /// effect and return SLUICE_STATUS_UNSUPPORTED, which is no violation. `extension` returns NULL for the table of such
  /// a feature, and the plugin's functions for it are never called.
  uint32_t features;
  /// Name and version of the program, for logs.
  sluice_text name;
  sluice_text version;
  /// The instance's name in the configuration; empty at the entry point.
  sluice_text instance_name;
  /// Private to the host; a plugin must not use it.
  void *handle;

  /// The functions of an exchange; the same table for every instance.
  const sluice_exchange_api *exchange;

  /// Ends a suspension. Exactly one call for a token gets SLUICE_STATUS_OK, and any further call gets
  /// SLUICE_STATUS_ALREADY. After the deadline, the cancellation or the end of the transaction, a call gets
  /// SLUICE_STATUS_STALE. May be called before the suspending call has returned. If the verdict needs it, call
  /// `respond`, `fail` or `retry` first, inside `enter`. For an unknown verdict and for SLUICE_VERDICT_SUSPENDED,
  /// returns SLUICE_STATUS_INVALID, and the token stays valid. [any]
  sluice_status (*resume)(const sluice_host *host, sluice_token token, sluice_verdict verdict);
  /// Runs `function` once on a loop, after the functions that were posted to that loop before. If the caller is on that
  /// loop, the function runs after `post` has returned. All functions that an instance has posted have run before its
  /// `destroy`. Returns SLUICE_STATUS_CLOSING in `create` and when the host accepts nothing new, and
  /// SLUICE_STATUS_INVALID for a loop that does not exist; in both cases the function does not run. [any]
  sluice_status (*post)(const sluice_host *host, sluice_loop loop, void (*function)(void *context), void *context);
  /// Returns the exchange that the token suspends; NULL if the exchange is gone or belongs to another loop. Call it on
  /// the transaction's loop, in a posted function, a timer or a completion. The exchange is valid until that function
  /// returns, or until `resume`. [loop]
  sluice_exchange *(*enter)(const sluice_host *host, sluice_token token);

  /// Writes a structured log line with plugin, generation and stage. The text is cut off after 8 KiB; control
  /// characters, including line breaks, are escaped. [any]
  void (*log)(const sluice_host *host, sluice_log_level level, sluice_text message);
  /// The time on the monotonic clock. [any]
  uint64_t (*clock_ns)(const sluice_host *host);
  /// Returns another table of the host by its id (`sluice.timers/1` …); NULL if the host does not have it. The table is
  /// valid as long as the host. [any]
  const void *(*extension)(const sluice_host *host, const char *id);

  /// The time on the wall clock, in nanoseconds since 1970-01-01T00:00:00Z: for dates in messages. In a self-test case
  /// it is the time of the case, if the case has one; in a replay it is the time of the recording. Older hosts do not
  /// have this member: call `sluice_wall_clock_ns`. [any]
  uint64_t (*wall_clock_ns)(const sluice_host *host);
};
#define SLUICE_HOST_SIZE_1 128u

#endif
