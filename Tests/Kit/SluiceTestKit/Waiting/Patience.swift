/// How long a test waits for an event that must happen.
package enum Patience {
  /// Only a hang takes longer than this, even on the slowest machine while all tests run at the same time. A test that
  /// reaches this limit is broken or has found a bug. A slow machine is never the cause.
  package static let limit = Duration.seconds(240)
}
