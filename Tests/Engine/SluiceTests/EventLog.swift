import SluicePipeline
import SluiceSupport

/// Collects the kind of each event that a tracer gets.
final class EventLog: Sendable {
  private let log = Locked<[TraceEvent.Kind]>([])

  var kinds: [TraceEvent.Kind] { log.withLock { $0 } }

  func append(_ kind: TraceEvent.Kind) { log.withLock { $0.append(kind) } }
}
