import Sluice
import SluiceJSON
import SluicePipeline
import SluiceSupport

/// The last exchanges, and what a new build makes of them. From any thread.
final class EngineRecordings: Sendable {
  private struct State: Sendable {
    var last = RecordingBuffer(maximumCount: EngineRecordings.lastCount)
    /// Those of `-i`, which go before the others.
    var set = RecordingBuffer()
    /// What serves.
    var build: Replay.Build?
    var comparison: Task<Void, Never>?
  }

  private static let lastCount = 20
  private static let shownRequests = 5

  private let state = Locked(State())
  private let reporter: EngineReporter

  init(_ reporter: EngineReporter) { self.reporter = reporter }

  func begin(with build: Replay.Build?) { state.withLock { $0.build = build } }

  /// - Parameter isOfSet: told to the supervisor too, which keeps it for the next process.
  func note(_ exchange: RecordedExchange?, isOfSet: Bool) {
    guard let exchange else { return }
    state.withLock { if isOfSet { $0.set.append(exchange) } else { $0.last.append(exchange) } }
    if isOfSet { reporter.send("recording", ["exchange": exchange.document(.complete)]) }
  }

  /// Takes what a process before this one recorded of the set. Bodies in its files are gone with it.
  func adopt(_ documents: JSONValue) {
    for document in documents.elements {
      if let exchange = try? RecordedExchange(document) { state.withLock { $0.set.append(exchange) } }
    }
  }

  /// Replays the recordings through what served and what serves now, one comparison after the other.
  func compare(with new: Replay.Build, plugins: [String]) {
    state.withLock { state in
      let old = state.build
      state.build = new
      let exchanges = state.set.exchanges.isEmpty ? state.last.exchanges : state.set.exchanges
      guard let old, !exchanges.isEmpty, let replay = Replay() else { return }
      let before = state.comparison
      state.comparison = Task.detached { [reporter] in
        await before?.value
        // Where a build cannot be replayed at all, the engine has said what is wrong with it.
        guard let report = try? await replay.compare(exchanges, old: old, new: new) else { return }
        reporter.send(
          "difference",
          [
            "plugins": .array(of: plugins), "report": report.document,
            "text": JSONValue(report.text(showing: Self.shownRequests)),
          ])
      }
    }
  }

  /// What serves, with other libraries.
  func build(with libraries: [String: String]) -> Replay.Build? {
    state.withLock { state in
      var build = state.build
      build?.libraries = libraries
      return build
    }
  }
}
