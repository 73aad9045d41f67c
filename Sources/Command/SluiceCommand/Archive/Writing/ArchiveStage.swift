import Sluice
import SluicePipeline

/// Follows the events of transactions, and passes on each hop that has ended.
final class ArchiveStage: Interceptor, Tracer {
  let capabilities: StageCapabilities = []
  let interests = TraceInterests(.didIssue, .didEndHop)
  private let desk: @Sendable (Int) -> HopDesk?
  private let take: @Sendable (ArchivedHop) -> Void

  /// What the stage keeps for a transaction while a hop is under way.
  private final class Place {
    let tap: HopTap
    let identity: ArchivedHop.Identity

    init(_ tap: HopTap, _ identity: ArchivedHop.Identity) {
      self.tap = tap
      self.identity = identity
    }
  }

  /// - Parameters:
  ///   - desk: returns the desk of a loop, by the loop's index.
  ///   - take: gets each hop, on the loop of the hop; must not block.
  init(desk: @escaping @Sendable (Int) -> HopDesk?, _ take: @escaping @Sendable (ArchivedHop) -> Void) {
    self.desk = desk
    self.take = take
  }

  func record(_ event: TraceEvent) {
    let exchange = event.exchange
    let current = desk(exchange.loop.index)?.current
    switch event.kind {
    case .didIssue:
      guard let current else { return }
      exchange.attachments[self] = Place(current, ArchivedHop.Identity(exchange))
    case .didEndHop:
      let place = exchange.attachments[self] as? Place
      exchange.attachments[self] = nil
      let identity = place?.identity ?? ArchivedHop.Identity(exchange)
      // A hop that ends before it is issued has no `Place`, and perhaps its `HopTap` has not seen the end yet.
      take((place?.tap ?? current)?.hop(event, identity) ?? ArchivedHop(unsent: event))
    default: break
    }
  }
}
