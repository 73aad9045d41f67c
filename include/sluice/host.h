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

/// Flags of a host; unknown ones are to be ignored.
enum {
  /// The plugin is being tried out in a child process: call-outs are refused or get a made-up answer, and the plugin
  /// must not change anything outside the process.
  SLUICE_HOST_PROBE = 1
};

/// What a host can do beyond the tables in `sluice_host`; the note of a plugin names those that it cannot do without.
enum {
  /// `suspend`, `resume`, `enter` and `post`.
  SLUICE_FEATURE_SUSPEND = 1,
  /// `respond` in on_request and on_failure.
  SLUICE_FEATURE_RESPOND = 2,
  SLUICE_FEATURE_RETRY = 4,
  /// The bodies that SLUICE_WANTS_REQUEST_BODY and SLUICE_WANTS_RESPONSE_BODY ask for.
  SLUICE_FEATURE_REQUEST_BODY = 8,
  SLUICE_FEATURE_RESPONSE_BODY = 16,
  /// `sluice.body/1`.
  SLUICE_FEATURE_STREAMED_BODY = 32,
  /// The host's table of that name, as with the next three.
  SLUICE_FEATURE_TIMERS = 64,
  SLUICE_FEATURE_CALLOUT = 128,
  SLUICE_FEATURE_METRICS = 256,
  SLUICE_FEATURE_VALUES = 512,
  /// on_issue, on_redirect and on_challenge for every hop.
  SLUICE_FEATURE_HOPS = 1024,
  /// Method and URL can be changed in on_request.
  SLUICE_FEATURE_REWRITE = 2048,
  /// on_response and on_failure are called, and what they change is what the caller gets.
  SLUICE_FEATURE_RESPONSE = 4096,
  /// `json` with all its flags.
  SLUICE_FEATURE_DOCUMENT = 8192,
  /// Notifications and schedules are delivered.
  SLUICE_FEATURE_NOTIFICATIONS = 16384
};

/// One per instance. The one given to `create` is valid until `destroy` returns; the one given to the entry point only
/// for that call.
struct sluice_host {
  uint32_t size;
  /// The ABI revision that the host speaks with this plugin.
  uint32_t abi;
  uint32_t flags;
  /// SLUICE_FEATURE_… bits.
  uint32_t features;
  /// Name and version of the program, for logs.
  sluice_text name;
  sluice_text version;
  /// The instance's name in the configuration; empty at the entry point.
  sluice_text instance_name;
  /// The host's own; a plugin does not look at it.
  void *handle;

  /// The functions of an exchange; the same table for every instance.
  const sluice_exchange_api *exchange;

  /// Ends a suspension. Exactly one call wins and gets SLUICE_OK; another gets SLUICE_ALREADY, and one that comes after
  /// the deadline, the cancellation or the end SLUICE_STALE. May come before the suspending call has returned. What the
  /// verdict needs (`respond`, `fail`, `retry`) is set before, inside `enter`. SLUICE_INVALID for a verdict that does
  /// not exist or is SLUICE_SUSPENDED; the token is still good then. [any]
  sluice_status (*resume)(const sluice_host *host, sluice_token token, sluice_verdict verdict);
  /// Runs `function` once on a loop, after what was posted to it before, never before `post` returns to a caller on
  /// that loop. What an instance posted has run before its `destroy`. SLUICE_CLOSING when the host takes nothing new,
  /// SLUICE_INVALID for a loop that does not exist; then it is not run. [any]
  sluice_status (*post)(const sluice_host *host, sluice_loop loop, void (*function)(void *context), void *context);
  /// Inside a posted function, a timer's or a call-out's completion on the transaction's loop: the exchange that the
  /// token suspends, NULL when it is gone or lives on another loop. Valid until that function returns, or until
  /// `resume`. [loop]
  sluice_exchange *(*enter)(const sluice_host *host, sluice_token token);

  /// Writes a structured log line with plugin, generation and stage. Text beyond 8 KiB is cut off; control characters,
  /// including line breaks, are escaped. [any]
  void (*log)(const sluice_host *host, sluice_log_level level, sluice_text message);
  /// Nanoseconds on the monotonic clock. [any]
  uint64_t (*clock)(const sluice_host *host);
  /// A further table of the host by its id (`sluice.timers/1` …), NULL when the host has none. It is valid as long as
  /// the host. [any]
  const void *(*extension)(const sluice_host *host, const char *id);
};

#endif
