import SluiceLocks
import SluicePipeline

/// What an instance keeps for one transaction: the pointer of `data_set`, and what a verdict still needs.
///
/// Its end is the transaction's: it is let go on the loop, and releases the data there. It keeps the instance, so that
/// `destroy` comes later. Locked because a late BLOCKING call may meet one on the loop.
final class InstanceRecord: Sendable {
  typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// Unchecked: the pointer is the plugin's, and only handed back.
  private struct State: @unchecked Sendable {
    var data: UnsafeMutableRawPointer?
    var release: Release?
    var failure: StageFailure?
    var retryDelay: Duration?
    var token: SuspensionToken?
    var phase = CallPhase.request
  }

  private let instance: PluginInstance
  private let state = Locked(State())

  init(_ instance: PluginInstance) { self.instance = instance }

  deinit {
    let (data, release) = state.withLock { (UncheckedPointer($0.data), $0.release) }
    if let address = data.address { release?(address) }
  }

  var data: UnsafeMutableRawPointer? { state.withLock { UncheckedPointer($0.data) }.address }

  /// Replaces the pointer; the one before is released, unless it is the same.
  func setData(_ data: UnsafeMutableRawPointer?, _ release: Release?) {
    let data = UncheckedPointer(data)
    let old = state.withLock { state in
      let old = (UncheckedPointer(state.data), state.release)
      state.data = data.address
      state.release = release
      return old
    }
    if let address = old.0.address, address != data.address { old.1?(address) }
  }

  var failure: StageFailure? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  var retryDelay: Duration? {
    get { state.withLock { $0.retryDelay } }
    set { state.withLock { $0.retryDelay = newValue } }
  }

  func suspended(with token: SuspensionToken, in phase: CallPhase) {
    state.withLock {
      $0.token = token
      $0.phase = phase
    }
  }

  /// The call that was suspended with that token; nil where this instance did not take it.
  func phase(of token: SuspensionToken) -> CallPhase? { state.withLock { $0.token == token ? $0.phase : nil } }

  /// Takes what `fail` and `retry` left, so that it does not count for a later call.
  func takeDetails() -> (failure: StageFailure?, retryDelay: Duration?) {
    state.withLock { state in
      defer {
        state.failure = nil
        state.retryDelay = nil
      }
      return (state.failure, state.retryDelay)
    }
  }
}

extension PluginInstance {
  func existingRecord(_ exchange: Exchange) -> InstanceRecord? {
    // Nobody else keeps anything under this instance's identity.
    exchange.attachments[self].map { unsafeDowncast($0, to: InstanceRecord.self) }
  }

  func record(_ exchange: Exchange) -> InstanceRecord {
    if let record = existingRecord(exchange) { return record }
    let record = InstanceRecord(self)
    exchange.attachments[self] = record
    return record
  }
}
