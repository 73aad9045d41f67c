import Sluice

/// A file that `send` or `run` writes besides its results. Nothing is left out of it: if it is slower than the traffic,
/// `run` begins no request until there is room again.
protocol SideOutput: Sendable {
  /// Adds what the file needs to know from the pipeline. Call it for each configuration that is loaded.
  func append(to configuration: inout Configuration)

  /// Sets who is told about room and failures. Call it before the first request.
  func listen(_ listener: ByteOutput.Listener)

  var hasRoom: Bool { get }

  /// Writes the rest. Call it once, when the engine has ended. Returns any failure since the beginning.
  func finish() -> CommandError?
}

extension SideOutput {
  func append(to configuration: inout Configuration) {}
}
