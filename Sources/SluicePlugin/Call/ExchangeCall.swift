import CSluice
import Glibc
import Synchronization

/// One call of the host: the exchange's name, and the thread on which it may be touched now.
///
/// `@unchecked Sendable`: the variables are touched only by the thread that `owner` names, which is the one that wrote
/// them; every access asks for that first.
class ExchangeCall: @unchecked Sendable {
  let link: HostLink
  private let owner = Atomic<UInt>(0)
  private let mayComplain = Atomic<Bool>(true)
  private var exchange: OpaquePointer?
  /// The first thing that the host refused to write.
  private(set) var refusal: PluginFailure?
  private(set) var hasResponded = false
  /// The verdict of a call that returned, where it is neither RESPOND nor CONTINUE by what the call did.
  private(set) var decision: sluice_verdict?

  init(link: HostLink) {
    self.link = link
  }

  /// The exchange can be touched, by this thread, until ``leave()``.
  final func enter(_ exchange: OpaquePointer) {
    self.exchange = exchange
    owner.store(pthread_self(), ordering: .releasing)
  }

  final func leave() {
    owner.store(0, ordering: .releasing)
  }

  /// The handles are dead from here on, without complaint: the transaction went its way, which is not the plugin's fault.
  final func silence() {
    mayComplain.store(false, ordering: .relaxed)
  }

  /// Lends the exchange; nil, and a line in the log, outside of the call or on another thread.
  final func withExchange<Result>(_ body: (UnsafePointer<sluice_exchange_api>, OpaquePointer) -> Result) -> Result? {
    guard owner.load(ordering: .acquiring) == pthread_self(), let exchange else {
      complain()
      return nil
    }
    return body(link.current.pointee.exchange, exchange)
  }

  private func complain() {
    guard mayComplain.exchange(false, ordering: .relaxed) else { return }
    link.log(.warning, "a request or response was used outside of its call or thread; that had no effect")
  }

  /// Writes something; true where the host did it, false where there was nothing to do it to.
  @discardableResult
  final func write(
    _ subject: @autoclosure () -> String, _ body: (UnsafePointer<sluice_exchange_api>, OpaquePointer) -> sluice_status
  ) throws(PluginFailure) -> Bool {
    guard let status = withExchange(body) else { return false }
    guard status < 0 else { return status == 0 }
    throw PluginFailure(message: "\(subject()): \(reason(status))")
  }

  /// Runs what cannot throw where it stands; the call fails with the first error at its end.
  final func attempt(_ body: () throws(PluginFailure) -> Void) {
    do {
      try body()
    } catch {
      refusal = refusal ?? error
    }
  }

  final func decide(_ verdict: sluice_verdict) { decision = verdict }

  final func respond(_ status: Int) throws(PluginFailure) {
    let verdict = withExchange { $0.pointee.respond($1, UInt32(clamping: status)) }
    guard verdict != sluice_verdict(SLUICE_FAIL) else {
      throw PluginFailure(message: "cannot respond with status \(status): expected 200 to 999")
    }
    hasResponded = hasResponded || verdict != nil
  }
}

private func reason(_ status: sluice_status) -> String {
  switch Int(status) {
  case Int(SLUICE_INVALID): "the host refused a malformed value"
  case Int(SLUICE_REFUSED): "the host does not let a plugin write that here"
  case Int(SLUICE_NO_MEMORY): "out of memory"
  default: "the host refused with status \(status)"
  }
}
