import Glibc

/// Signal settings of the test process.
public enum StandardSignals {
  private static let brokenPipesIgnored: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// Makes a write to a closed pipe or socket an error instead of the end of the test run.
  public static func ignoreBrokenPipes() {
    brokenPipesIgnored
  }
}
