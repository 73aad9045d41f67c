import CSluice
import Glibc
import Synchronization

/// One call from the host: the pointer to its exchange, and the thread that can use the exchange now.
///
/// `@unchecked Sendable`: only the thread in `owner` uses the variables, which it has also written. Every access first
/// checks that it runs on this thread.
class ExchangeCall: @unchecked Sendable {
  let link: HostLink
  private let owner = Atomic<UInt>(0)
  private let mayComplain = Atomic<Bool>(true)
  private var exchange: OpaquePointer?
  /// The error of the first write that the host refused.
  private(set) var refusal: StageFailure?
  private(set) var hasResponded = false
  /// The verdict of a returned call. It is nil for RESPOND and CONTINUE, which follow from the call's actions.
  private(set) var decision: sluice_verdict?

  init(link: HostLink) {
    self.link = link
  }

  /// Resets the object for the next call. Nothing else must refer to it.
  final func reset() {
    exchange = nil
    refusal = nil
    hasResponded = false
    decision = nil
    mayComplain.store(true, ordering: .relaxed)
  }

  /// Allows the calling thread to use the exchange until ``leave()``.
  final func enter(_ exchange: OpaquePointer) {
    self.exchange = exchange
    owner.store(pthread_self(), ordering: .releasing)
  }

  final func leave() {
    owner.store(0, ordering: .releasing)
  }

  /// Suppresses the warning about a use after the call. This is for a call that the host ends while its method waits:
  /// the method then uses its handles after the end, and cannot know this.
  final func silence() {
    mayComplain.store(false, ordering: .relaxed)
  }

  /// Lends the exchange. Outside of the call or on another thread, logs a warning and returns nil.
  final func withExchange<Result>(_ body: (UnsafePointer<sluice_exchange_api>, OpaquePointer) -> Result) -> Result? {
    guard owner.load(ordering: .acquiring) == pthread_self(), let exchange else {
      complain()
      return nil
    }
    return body(link.current.pointee.exchange, exchange)
  }

  private func complain() {
    guard mayComplain.exchange(false, ordering: .relaxed) else { return }
    link.log(.warning, "a request or response was used outside of its call or thread; the access had no effect")
  }

  /// Performs a write; true if the host did it, false if the target does not exist.
  @discardableResult
  final func write(
    _ subject: @autoclosure () -> String, _ body: (UnsafePointer<sluice_exchange_api>, OpaquePointer) -> sluice_status
  ) throws(StageFailure) -> Bool {
    guard let status = withExchange(body) else { return false }
    guard status < 0 else { return status == 0 }
    throw StageFailure(message: "\(subject()): \(reason(status))")
  }

  /// Runs a write where no error can be thrown. The first error fails the call when it ends.
  final func attempt(_ body: () throws(StageFailure) -> Void) {
    do {
      try body()
    } catch {
      refusal = refusal ?? error
    }
  }

  final func decide(_ verdict: sluice_verdict) { decision = verdict }

  final func respond(_ status: Int) throws(StageFailure) {
    let verdict = withExchange { $0.pointee.respond($1, UInt32(clamping: status)) }
    guard verdict != sluice_verdict(SLUICE_VERDICT_FAIL) else {
      let reason = (200...999).contains(status) ? "the host does not let a stage respond here" : "expected 200 to 999"
      throw StageFailure(message: "cannot respond with status \(status): \(reason)")
    }
    if verdict != nil { hasResponded = true }
  }
}

private func reason(_ status: sluice_status) -> String {
  switch Int(status) {
  case Int(SLUICE_STATUS_INVALID): "the host refused a malformed value"
  case Int(SLUICE_STATUS_REFUSED): "the host does not let a plugin write that here"
  case Int(SLUICE_STATUS_NO_MEMORY): "out of memory"
  default: "the host refused with status \(status)"
  }
}
