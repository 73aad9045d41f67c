import CSluice
import SluiceJSON
package import SluicePluginImage

// Hand-over from generation to generation: `sluice.state/1`.
extension PluginInstance {
  /// The longest state that is handed over, as JSON text.
  package static let stateLimitBytes = 16 << 20

  package var keepsState: Bool { stateCalls.save != nil }

  /// Whether a swap goes on without a state that cannot be had or is not taken.
  package var isStateOptional: Bool { stateCalls.flags & UInt32(SLUICE_STATE_OPTIONAL) != 0 }

  /// Has the plugin save its state, after the control calls that wait before it; nil where it keeps none.
  ///
  /// - Parameter limit: how long that may take, the wait included.
  package func saveState(within limit: Duration) async throws(PluginError) -> SavedState? {
    guard keepsState else { return nil }
    let result: Result<SavedState, PluginError> = await FirstAnswer.race(within: limit) { answer in
      let isSubmitted = control.submit { [self] in answer.give(Result { () throws(PluginError) in try callSave() }) }
      if !isSubmitted { answer.give(.failure(stateError("the instance has ended"))) }
    } orElse: { [self] in
      .failure(stateError("it was not saved within \(limit): other calls hold it up, or save does"))
    }
    return try result.get()
  }

  /// On a control thread.
  private func callSave() throws(PluginError) -> SavedState {
    guard let save = stateCalls.save else { throw stateError("it keeps none") }
    let (saved, message) = PluginErrorBuffer.collect { error in subject.call(.save) { save(handle, error) } }
    guard let saved else { throw stateError(message ?? "save gave none, and no reason") }
    do throws(JSONError) {
      let text = try JSONValue(adopting: saved).serializedText(limitBytes: Self.stateLimitBytes)
      return SavedState(text: text, version: stateCalls.version)
    } catch  where error.code == .tooLong {
      throw PluginError(
        .stateTooLarge, .plugin(name: name, path: generation.path), "its state is too long: \(error.message)",
        advice: "have it keep less, or declare its state optional (SLUICE_STATE_OPTIONAL)")
    } catch { throw stateError("save gave what is not JSON: \(error)") }
  }

  /// Hands over what the instance before saved; after `create` and before `activate`. Does nothing where the plugin keeps
  /// no state. [control]
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
