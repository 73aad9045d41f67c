package import SluiceMessages
package import SluicePipeline
import SluiceSupport

/// Answers the call-outs of plugins from the recordings, by method and URL. An answer of the current exchange comes
/// first, then one of any other exchange that was not given yet, and then the answer that was given last. If there is
/// none, the call-out gets the given answer, or it fails.
package final class ReplayCallOuts: Sendable {
  /// A recorded call-out and the number of the exchange that it was recorded with.
  package struct Entry: Sendable {
    package var exchange: Int
    package var call: RecordedCallOut

    package init(exchange: Int, _ call: RecordedCallOut) {
      self.exchange = exchange
      self.call = call
    }
  }

  private struct State {
    var exchange = 0
    var isUsed: [Bool]
    var made: [(name: String, request: Request)] = []
    var unanswered: [String] = []
  }

  private let entries: [(key: String, entry: Entry)]
  private let given: Response?
  private let secrets: Redactor
  private let state: Locked<State>

  /// - Parameters:
  ///   - given: the answer to call-outs without a recorded answer; nil lets them fail.
  ///   - secrets: secret parts of URLs are not compared, because a recording in a file does not have them.
  package init(_ entries: [Entry], given: Response?, secrets: Redactor) {
    self.entries = entries.map { ("\($0.call.method) \(secrets.url($0.call.url.string))", $0) }
    self.given = given
    self.secrets = secrets
    state = Locked(State(isUsed: Array(repeating: false, count: entries.count)))
  }

  func begin(exchange: Int) { state.withLock { $0.exchange = exchange } }

  func answer(_ request: Request) -> StubTransport.Reply {
    let key = "\(request.method) \(secrets.url(request.url.string))"
    // The query is left out, because it often varies.
    let name = String(key.prefix { $0 != "?" })
    return state.withLock { state in
      state.made.append((name, request))
      guard let place = place(of: key, state) else {
        if let given { return .response(given) }
        state.unanswered.append(name)
        return .failure(TransportError("not_recorded", "the recording has no answer to this call-out"))
      }
      state.isUsed[place] = true
      let call = entries[place].entry.call
      if let response = call.response { return .response(response) }
      return .failure(call.error ?? TransportError("not_recorded", "the recording has no answer to this call-out"))
    }
  }

  private func place(of key: String, _ state: State) -> Int? {
    let places = entries.indices.filter { entries[$0].key == key }
    let fresh = places.filter { !state.isUsed[$0] }
    return fresh.first { entries[$0].entry.exchange == state.exchange } ?? fresh.first ?? places.last
  }

  /// The call-outs since the last call, and the names of those that got no answer.
  func takeNotes(_ journal: JournalSettings) -> (made: [ReplayedCallOut], unanswered: [String]) {
    let (made, unanswered) = state.withLock { state in
      defer { (state.made, state.unanswered) = ([], []) }
      return (state.made, state.unanswered)
    }
    return (made.map { ReplayedCallOut(name: $0.name, request: journal.changes(making: $0.request)) }, unanswered)
  }
}
