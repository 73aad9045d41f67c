import Sluice
import SluicePipeline

/// Follows the events of transactions, and passes on each hop that has ended.
final class ArchiveStage: Interceptor, Tracer {
  let capabilities: StageCapabilities = []
  let interests = TraceInterests(.didIssue, .didEndHop)
  private let hops: @Sendable (Int) -> HopCorrelation?
  private let take: @Sendable (ArchivedHop) -> Void

  /// What the stage keeps for a transaction while a hop is under way.
  private final class Place {
    let recorder: ArchiveHopRecorder
    let identity: ArchivedHop.Identity

    init(_ recorder: ArchiveHopRecorder, _ identity: ArchivedHop.Identity) {
      self.recorder = recorder
      self.identity = identity
    }
  }

  /// - Parameters:
  ///   - hops: returns the correlation of a loop, by the loop's index.
  ///   - take: gets each hop, on the loop of the hop; must not block.
  init(hops: @escaping @Sendable (Int) -> HopCorrelation?, _ take: @escaping @Sendable (ArchivedHop) -> Void) {
    self.hops = hops
    self.take = take
  }

  func record(_ event: TraceEvent) {
    let exchange = event.exchange
    let current = hops(exchange.loop.index)?.current
    switch event.kind {
    case .didIssue:
      guard let current else { return }
      exchange.attachments[self] = Place(current, ArchivedHop.Identity(exchange))
    case .didEndHop:
      let place = exchange.attachments[self] as? Place
      exchange.attachments[self] = nil
      let identity = place?.identity ?? ArchivedHop.Identity(exchange)
      // A hop that ends before it is issued has no `Place`, and perhaps its `ArchiveHopRecorder` has not seen the end yet.
      take((place?.recorder ?? current)?.hop(event, identity) ?? ArchivedHop(unsent: event))
    default: break
    }
  }
}
