import SluiceAssembly
private import Synchronization

/// Warns once that a program sets the trace of its task, but no stage sends it.
final class UnsentTrace: Sendable {
  private let isChecked = Atomic(false)

  /// A warning for the first request with a trace, if no stage can send trace headers; nil for all other requests. Can
  /// be called on any thread.
  /// - Parameter configuration: read only for the first request with a trace.
  func warning(_ configuration: () -> Configuration) -> LogLine? {
    guard !isChecked.load(ordering: .relaxed), !isChecked.exchange(true, ordering: .relaxed) else { return nil }
    let configuration = configuration()
    let stages = Set((configuration.request + configuration.issue).map(\.plugin))
    guard configuration.plugins.allSatisfy({ !stages.contains($0.name) || !Self.canSend($0) }) else { return nil }
    return LogLine(
      level: .warning,
      message:
        "a trace is set (TraceContext.current), but no stage sends it; add the built-in \"headers\" to \"issue\"")
  }

  /// Whether a stage might write trace headers. What a library or code of the program does is not known.
  private static func canSend(_ plugin: PluginConfiguration) -> Bool {
    if case .builtin(let name) = plugin.source { name == "headers" } else { true }
  }
}
