import SluiceControl
import SluiceJSON

/// The engines among which the user of `sluice ctl` must choose.
enum RunningEngines {
  /// Maximum number of engines that are asked what they run.
  private static let askedCount = 16
  /// How long one engine may take to answer.
  private static let patience = Duration.seconds(2)

  /// The error that several engines run, with one line for each: its socket, its process, its configuration and the time
  /// of its start. Any other error stays as it is.
  static func choice(of error: ControlError) async -> ControlError {
    guard error.code == .severalEngines else { return error }
    let engines = ControlFolder.running()
    guard engines.count > 1 else { return error }
    var lines: [String] = []
    for (index, engine) in engines.enumerated() {
      let process = engine.process.map { " (process \($0))" } ?? ""
      let words = index < askedCount ? await words(of: engine) : nil
      lines.append("\n  \(engine.path)\(process)" + (words.map { ": \($0)" } ?? ""))
    }
    return ControlError(
      error.code, "\(engines.count) engines run; choose one with --socket PATH:\(lines.joined())")
  }

  /// Nil if the engine does not answer.
  private static func words(of engine: ControlFolder.RunningEngine) async -> String? {
    guard let client = try? ControlClient(at: engine.path) else { return nil }
    let status = try? await client.send("GET", "/v1/status", timeout: patience)
    await client.close()
    guard let facts = status?["engine"] else { return nil }
    let start = facts["startedAt"]?.string.map { "since \($0)" }
    return [facts["configuration"]?.string ?? "no configuration file", start].compactMap(\.self).joined(separator: ", ")
  }
}
