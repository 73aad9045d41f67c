import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The data of an instance for one transaction: the pointer of `data_set`, the values that the plugin stores for its
/// next verdict, and the call-outs that it makes on behalf of the transaction.
///
/// The record ends with the transaction. It then cancels the call-outs and releases the data on the loop, even if
/// another thread drops the last reference. It keeps the instance alive until then, so that `destroy` comes later.
/// The record has a lock, because a BLOCKING call that is late can run at the same time as a call on the loop.
final class InstanceRecord: Sendable {
  typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// Unchecked: the pointer belongs to the plugin; the host only passes it back.
  private struct State: @unchecked Sendable {
    var data: UnsafeMutableRawPointer?
    var release: Release?
    var failure: StageFailure?
    var retryDelay: Duration?
    var offer: ChallengeOffer?
    /// The suspended calls; some of them might already have ended.
    var suspensions: [Suspension] = []
    var wantsRequestBody = false
    var calls: [UInt64] = []
  }

  /// A suspended call. Unchecked: the pointer belongs to the plugin; the host only passes it back.
  struct Suspension: @unchecked Sendable {
    let token: SuspensionToken
    let phase: CallPhase
    /// The plugin's object for the place of the call.
    let stage: UnsafeMutableRawPointer?
  }

  private let instance: PluginInstance
  private let loop: any EventLoop
  private let state = Locked(State())

  init(_ instance: PluginInstance, on loop: any EventLoop) {
    self.instance = instance
    self.loop = loop
  }

  deinit {
    let (data, release, calls) = state.withLock { (UncheckedPointer($0.data), $0.release, $0.calls) }
    for call in calls { _ = instance.callOuts.cancel(call) }
    DataRelease.run(data, release, of: instance, on: loop)
  }

  var data: UnsafeMutableRawPointer? { state.withLock { UncheckedPointer($0.data) }.address }

  /// Replaces the pointer; the previous pointer is released, unless it is the same.
  func setData(_ data: UnsafeMutableRawPointer?, _ release: Release?) {
    let data = UncheckedPointer(data)
    let old = state.withLock { state in
      let old = (UncheckedPointer(state.data), state.release)
      state.data = data.address
      state.release = release
      return old
    }
    if old.0.address != data.address { DataRelease.run(old.0, old.1, of: instance, on: loop) }
  }

  var failure: StageFailure? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  var retryDelay: Duration? {
    get { state.withLock { $0.retryDelay } }
    set { state.withLock { $0.retryDelay = newValue } }
  }

  /// The challenge of the instance's last on_challenge call.
  var offer: ChallengeOffer? {
    get { state.withLock { $0.offer } }
    set { state.withLock { $0.offer = newValue } }
  }

  func suspended(with token: SuspensionToken, in phase: CallPhase, at stage: UnsafeMutableRawPointer?) {
    let suspension = Suspension(token: token, phase: phase, stage: stage)
    let environment = instance.environment(of: token)
    state.withLock { state in
      state.suspensions.removeAll { environment?.suspensions.isSuspended($0.token) != true }
      state.suspensions.append(suspension)
    }
  }

  /// The call that was suspended with that token; nil if this instance did not take it.
  func suspension(of token: SuspensionToken) -> Suspension? {
    state.withLock { $0.suspensions.first { $0.token == token } }
  }

  /// Adds a call-out, which is cancelled if it is not over when this transaction ends.
  func adopt(call: UInt64) { state.withLock { $0.calls.append(call) } }

  func forget(call: UInt64) { state.withLock { $0.calls.removeAll { $0 == call } } }

  func wantRequestBody() { state.withLock { $0.wantsRequestBody = true } }

  /// Removes and returns the values that `fail`, `retry` and `want_body` have stored, so that they do not affect a
  /// later call.
  func takeDetails() -> (failure: StageFailure?, retryDelay: Duration?, wantsRequestBody: Bool) {
    state.withLock { state in
      defer {
        state.failure = nil
        state.retryDelay = nil
        state.wantsRequestBody = false
      }
      return (state.failure, state.retryDelay, state.wantsRequestBody)
    }
  }
}

extension PluginInstance {
  func existingRecord(_ exchange: Exchange) -> InstanceRecord? {
    // The cast is safe, because only this type stores data under this instance's identity.
    exchange.attachments[self].map { unsafeDowncast($0, to: InstanceRecord.self) }
  }

  func record(_ exchange: Exchange) -> InstanceRecord {
    if let record = existingRecord(exchange) { return record }
    let record = InstanceRecord(self, on: exchange.loop)
    exchange.attachments[self] = record
    return record
  }
}
