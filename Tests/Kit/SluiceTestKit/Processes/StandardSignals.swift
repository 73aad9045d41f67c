import Glibc

/// Signal settings of the test process.
package enum StandardSignals {
  private static let brokenPipesIgnored: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// Makes a write to a closed pipe or socket an error instead of the end of the test run.
  package static func ignoreBrokenPipes() {
    brokenPipesIgnored
  }
}
