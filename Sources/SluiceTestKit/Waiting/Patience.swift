/// How long a test waits for an event that must happen.
package enum Patience {
  /// Only a hang takes longer, even on the slowest machine while everything runs at the same time. A test that reaches
  /// this limit is broken or has found a bug; it is never just slow.
  package static let limit = Duration.seconds(240)
}
