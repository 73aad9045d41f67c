import Sluice
import SluiceJSON
import SluicePipeline
import SluiceReplay
import SluiceSupport

/// The last exchanges, and their replays through new builds. Can be used on any thread.
final class EngineRecordings: Sendable {
  private struct State: Sendable {
    var last = RecordingBuffer(maximumCount: EngineRecordings.lastCount)
    /// Recordings of the requests in the file of `-i`. If there are any, only these are replayed.
    var set = RecordingBuffer()
    /// The builds that serve now.
    var build: Replay.Build?
    var comparison: Task<Void, Never>?
  }

  private static let lastCount = 20
  private static let shownRequests = 5

  private let state = Locked(State())
  private let reporter: EngineReporter

  init(_ reporter: EngineReporter) { self.reporter = reporter }

  func begin(with build: Replay.Build) { state.withLock { $0.build = build } }

  /// - Parameter isOfSet: whether the request is from the file of `-i`. The exchange of such a request is also sent to
  ///   the supervisor, which keeps it for the next process.
  func note(_ exchange: RecordedExchange?, isOfSet: Bool) {
    guard let exchange else { return }
    state.withLock { if isOfSet { $0.set.append(exchange) } else { $0.last.append(exchange) } }
    if isOfSet { reporter.send("recording", ["exchange": exchange.document(.complete)]) }
  }

  /// Takes over the recordings of `-i` from an earlier process of the engine. A body that was in a file of that process
  /// is no longer available.
  func adopt(_ documents: JSONValue) {
    for document in documents.elements {
      if let exchange = try? RecordedExchange(document) { state.withLock { $0.set.append(exchange) } }
    }
  }

  /// Replays the recordings through the previous and the new builds, one comparison at a time.
  func compare(with new: Replay.Build, plugins: [String]) {
    state.withLock { state in
      let old = state.build
      state.build = new
      var exchanges = state.set.exchanges.isEmpty ? state.last.exchanges : state.set.exchanges
      if !state.set.exchanges.isEmpty { exchanges[0].callOuts += state.last.exchanges.flatMap(\.callOuts) }
      guard let old, !exchanges.isEmpty, let replay = Replay() else { return }
      let before = state.comparison
      state.comparison = Task.detached { [reporter, exchanges] in
        await before?.value
        // If a build cannot be replayed, the engine has already reported the reason.
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
}
