package import SluiceMessages
import Synchronization

extension ConnectionFacts {
  /// Whether anybody in the process wants them: until then no transport collects any. Never taken back.
  package static var areWanted: Bool { wanted.load(ordering: .relaxed) }

  /// Has transports collect them for every hop that begins from now on.
  package static func want() { wanted.store(true, ordering: .relaxed) }

  private static let wanted = Atomic<Bool>(false)
}
