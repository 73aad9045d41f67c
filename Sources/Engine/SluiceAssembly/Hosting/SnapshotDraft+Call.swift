import SluicePluginHost

extension SnapshotDraft {
  /// A call into a new build. The build can serve only after the call has returned.
  package struct Call: Sendable {
    /// The function's name in the headers of the ABI.
    package enum Function: String, Sendable {
      case create, load, activate
      case createStage = "create_stage"
    }

    package let function: Function
    package let plugin: PluginConfiguration

    /// The error for a call that did not return within the limit. The engine does not wait for it any more.
    package func overdue(after limit: Duration) -> EngineError {
      let code: PluginError.Code =
        switch function {
        case .create, .createStage: .createFailed
        case .load: .stateRefused
        case .activate: .activateFailed
        }
      return .plugin(
        PluginError(
          code, .plugin(name: plugin.name, path: plugin.library),
          "\(function.rawValue) did not return within the \(limit) that this step has",
          advice: "do slow work on a separate thread, or find out what it waits for"),
        plugin.location)
    }
  }
}
