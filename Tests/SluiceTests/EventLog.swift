import SluicePipeline
import SluiceSupport

/// Collects the kinds of events that a tracer gets.
final class EventLog: Sendable {
  private let log = Locked<[TraceEvent.Kind]>([])

  var kinds: [TraceEvent.Kind] { log.withLock { $0 } }

  func append(_ kind: TraceEvent.Kind) { log.withLock { $0.append(kind) } }
}
