/// How long a test waits for what has to happen.
package enum Patience {
  /// Only a hang takes longer, on the slowest machine and with everything running at once: a test that ends here is broken
  /// or has found something, it is never just slow.
  package static let limit = Duration.seconds(240)
}
