import CSluice
import Glibc
import SluiceSupport
import Synchronization

/// The only owner of the host pointer, which is not used after the instance is destroyed.
///
/// `@unchecked Sendable`: the pointer is valid until ``close()``, which waits for its users. The functions of the host
/// to which ``withHost(_:)`` gives access can be called from any thread. Using the pointer takes no lock.
final class HostLink: @unchecked Sendable {
  private static let closedBit = 1
  /// Twice the number of users, plus the closed bit.
  private let users = Atomic<Int>(0)
  let sleeps = PendingSleeps()
  let hostLists = HostLists()
  /// The host, for use inside calls that come from the host: it exists at least as long as such a call runs.
  let current: UnsafePointer<sluice_host>
  /// Tables that are used often; nil if the host lacks one.
  let logger: UnsafePointer<sluice_logger>?
  let attributes: UnsafePointer<sluice_attributes>?
  let places: UnsafePointer<sluice_places>?

  init(_ host: UnsafePointer<sluice_host>) {
    current = host
    logger = host.logger
    attributes = host.attributes
    places = host.places
    if let threads = host.threads?.pointee {
      ThreadWatcher.install(ThreadWatcher(begin: threads.begin, pause: threads.pause, resume: threads.resume))
    }
  }

  /// Lends the host for a function that does not call back; nil if the instance has ended.
  @discardableResult
  func withHost<Result: Sendable>(_ body: (UnsafePointer<sluice_host>) -> Result) -> Result? {
    let before = users.add(2, ordering: .acquiring).oldValue
    defer { users.subtract(2, ordering: .releasing) }
    return before & Self.closedBit == 0 ? body(current) : nil
  }

  func close() {
    users.bitwiseOr(Self.closedBit, ordering: .acquiringAndReleasing)
    while users.load(ordering: .acquiring) > Self.closedBit { sched_yield() }
    hostLists.releaseAll()
  }

  /// The facts of a transaction; its texts are borrowed until the call returns. [inside the call]
  func context(of exchange: OpaquePointer) -> sluice_context {
    var context = sluice_context()
    context.size = UInt32(MemoryLayout<sluice_context>.size)
    _ = current.pointee.exchange.pointee.context(exchange, &context)
    return context
  }
}

extension StageFailure {
  /// The failure of every function that needs the host, after the instance has ended.
  static var instanceEnded: StageFailure { StageFailure(code: "closing", message: "the instance has ended") }
}
