extension PluginHost {
  /// Waits for a duration, on a timer of the host (`sluice.timers/1`). A transaction that waits is suspended; its event
  /// loop continues with others.
  ///
  ///     try await host.sleep(for: .milliseconds(50))
  ///
  /// Use it in place of `Task.sleep`, which starts its own threads in the host program. A plugin that cannot work
  /// without timers must require `SLUICE_FEATURE_TIMERS`.
  ///
  /// - Parameter duration: a negative one counts as zero.
  /// - Throws: `CancellationError` at once when the task is cancelled; ``StageFailure`` with the code `closing` if the
  ///   instance has ended or is ending, `limit` if too many timers are running, `unsupported` in a host without timers.
  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    try await PendingSleep(link).wait(duration)
  }
}
