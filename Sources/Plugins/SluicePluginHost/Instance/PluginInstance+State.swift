import CSluice
import SluiceJSON

// Hand-over from generation to generation: `sluice.state/1`.
extension PluginInstance {
  /// The maximum size of a state that is handed over, as JSON text.
  package static let stateLimitBytes = 16 << 20

  package var keepsState: Bool { stateCalls.save != nil }

  /// Whether a swap goes on without the state if the state cannot be saved or the new instance does not accept it.
  package var isStateOptional: Bool { stateCalls.flags & UInt32(SLUICE_STATE_OPTIONAL) != 0 }

  /// Waits for earlier control calls, then makes the plugin save its state. Returns nil if the plugin keeps no state.
  ///
  /// - Parameter limit: the time limit for the wait and the call together.
  package func saveState(within limit: Duration) async throws(PluginError) -> SavedState? {
    guard keepsState else { return nil }
    let result: Result<SavedState, PluginError> = await FirstAnswer.race(within: limit) { answer in
      let isSubmitted = control.submit { [self] in answer.give(Result { () throws(PluginError) in try callSave() }) }
      if !isSubmitted { answer.give(.failure(stateError("the instance has ended"))) }
    } orElse: { [self] in
      .failure(stateError("it was not saved within \(limit): save takes too long, or other calls delay it"))
    }
    return try result.get()
  }

  /// Makes the plugin save its state at once, on the calling thread and without a time limit. Returns nil if the plugin
  /// keeps no state. [control]
  package func saveStateHere() throws(PluginError) -> SavedState? { keepsState ? try callSave() : nil }

  /// Runs on a control thread.
  private func callSave() throws(PluginError) -> SavedState {
    guard let save = stateCalls.save else { throw stateError("it keeps none") }
    let (saved, message) = PluginErrorBuffer.collect { error in subject.call(.save) { save(handle, error) } }
    guard let saved else { throw stateError(message ?? "save returned no state and gave no reason") }
    do throws(JSONError) {
      let text = try JSONValue(adopting: saved).serializedText(limitBytes: Self.stateLimitBytes)
      return SavedState(text: text, version: stateCalls.version)
    } catch  where error.code == .tooLong {
      throw PluginError(
        .stateTooLarge, .plugin(name: name, path: generation.path), "its state is too long: \(error.message)",
        advice: "keep less in it, or declare its state optional (SLUICE_STATE_OPTIONAL)")
    } catch { throw stateError("save returned a text that is not JSON: \(error)") }
  }

  /// Passes the state that the previous instance saved to this instance. Call it after `create` and before `activate`.
  /// Does nothing if the plugin keeps no state. [control]
  package func loadState(_ state: SavedState) throws(PluginError) {
    guard let load = stateCalls.load else { return }
    let document: JSONValue
    do { document = try JSONValue(parsing: state.text, options: .allowNUL) } catch {
      throw stateError("the saved state cannot be read: \(error)")
    }
    let (status, message) = PluginErrorBuffer.collect { error in
      document.withUnsafeJSON { document in subject.call(.load) { load(handle, document, state.version, error) } }
    }
    guard status == Status.ok else {
      throw stateError(message ?? "load answered \(status) and gave no reason")
    }
  }

  private func stateError(_ reason: String) -> PluginError {
    PluginError(
      .stateRefused, .plugin(name: name, path: generation.path), "its state: \(reason)",
      advice: "declare the state optional (SLUICE_STATE_OPTIONAL) if the plugin can begin without it")
  }
}
