package import SluiceMessages
import Synchronization

extension ConnectionFacts {
  /// Whether any code in the process wants connection facts; until then no transport collects them. Never reset.
  package static var areWanted: Bool { wanted.load(ordering: .relaxed) }

  /// Makes transports collect connection facts for every hop that begins from now on.
  package static func want() { wanted.store(true, ordering: .relaxed) }

  private static let wanted = Atomic<Bool>(false)
}
