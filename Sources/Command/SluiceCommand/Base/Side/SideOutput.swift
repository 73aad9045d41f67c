import Sluice

/// A file that `send` or `run` writes in addition to its results. Nothing is left out: if the file is slower than the
/// traffic, `run` begins no request until there is room again.
protocol SideOutput: Sendable {
  /// Adds stages and settings from which the file gets its content. Must be called for each configuration that is
  /// loaded.
  func append(to configuration: inout Configuration)

  /// Sets the listener that is told about room and failures. Must be called before the first request.
  func listen(_ listener: ByteOutput.Listener)

  var hasRoom: Bool { get }

  /// Writes the remaining content. Must be called once, when the engine has ended. Returns any failure since the
  /// beginning.
  func finish() -> CommandError?
}

extension SideOutput {
  func append(to configuration: inout Configuration) {}
}
