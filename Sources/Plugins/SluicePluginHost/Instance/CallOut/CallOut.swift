import CSluice
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// A request that a plugin makes itself. It begins with `start` and is over when its completion has returned. It goes
/// directly to the transport of its loop, without a transaction and so without the stages, and follows no redirect. It
/// counts as open work of the instance, for which `destroy` waits, until its completion has returned.
///
///     start ─post─► begin ──► transport ──► transferDidEnd ──► completion, once
///                     │ parent gone, cancelled, host closing ────▲
///
/// `@unchecked Sendable`: its variables are used only on the loop. Whether it was cancelled is stored in the
/// ``CallOutSet``, which has a lock.
final class CallOut: @unchecked Sendable {
  typealias Completion = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<sluice_call_result>?) -> Void

  /// The request and the options that the plugin passed. Unchecked: the pointer belongs to the plugin, and the host
  /// only passes it back.
  struct Order: @unchecked Sendable {
    var request: Request
    var parent: SuspensionToken?
    var timeout: Duration
    var maximumResponseBytes: Int
    var completion: Completion
    var context: UncheckedPointer
  }

  let id: UInt64
  let order: Order
  /// The time after which the call-out has no time left. If its loop is stuck, it then ends on another loop.
  let latestEnd: Instant
  private let instance: PluginInstance
  private let environment: LoopEnvironment
  private let timer = LoopTimer()
  private var transfer: (any Transfer)?
  private var head: Response?
  private var isTimedOut = false
  /// Whether the completion was called, or is about to be called.
  private let isOver = Atomic<Bool>(false)
  /// The record of the exchange on whose behalf the call-out runs; the call-out ends when that exchange ends.
  private weak var record: InstanceRecord?

  init(_ id: UInt64, _ order: Order, of instance: PluginInstance, on environment: LoopEnvironment) {
    self.id = id
    self.order = order
    latestEnd = environment.loop.now + order.timeout
    self.instance = instance
    self.environment = environment
  }

  var loop: any EventLoop { environment.loop }

  /// Sends the request, unless the call-out was cancelled. [loop]
  func begin() {
    guard !instance.callOuts.isCancelled(id), !instance.runtime.gate.isClosed else { return complete(.cancelled) }
    let now = loop.now
    var deadline = now + order.timeout
    if let parent = order.parent {
      guard let exchange = environment.suspensions.exchange(for: parent),
        let record = instance.existingRecord(exchange), record.suspension(of: parent) != nil
      else { return complete(.cancelled) }
      deadline = min(deadline, exchange.deadline)
      record.adopt(call: id)
      self.record = record
    }
    guard now < deadline else { return complete(timeout) }
    loop.arm(timer, at: deadline, for: self)
    let options = TransferOptions(maximumResponseBytes: order.maximumResponseBytes, spillBytes: .max)
    let transport = environment.callOutTransport ?? environment.transport
    transfer = transport.start(order.request, options, observer: self)
  }

  /// Ends the transfer. The caller must have marked the call-out as cancelled in the set before. [any]
  func abort() {
    loop.post { [self] in transfer?.cancel() }
  }

  private var timeout: CallOutOutcome {
    .failed(
      code: .timeout,
      message: "\(order.request.url.origin): no complete response in time; raise the timeout of the call, or of the "
        + "transaction")
  }

  /// Calls the plugin's completion, in which the plugin can enter exchanges of this loop. [loop]
  private func complete(_ outcome: CallOutOutcome) {
    if isOver.exchange(true, ordering: .acquiringAndReleasing) {
      transfer = nil
      return loop.disarm(timer)
    }
    loop.disarm(timer)
    transfer = nil
    record?.forget(call: id)
    let wasCancelled = instance.callOuts.remove(id)
    let outcome = wasCancelled ? .cancelled : outcome
    if !wasCancelled, let log = environment.callOuts { log.note(outcome.record(of: order.request)) }
    outcome.lend { result in
      instance.runPosted { order.completion(order.context.address, result) }
    }
    instance.openWork.update { $0 -= 1 }
  }
}

extension CallOut: TransferObserver {
  func transferWillIssue(_ headers: inout HeaderFields) -> Bool { !isTimedOut && !instance.callOuts.isCancelled(id) }

  func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {}

  func transferDidReceiveHead(_ head: Response) -> BodyDisposition {
    self.head = head
    return .collect
  }

  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress { .proceed }

  func transferDidEnd(_ end: TransferEnd) {
    guard !isTimedOut else { return complete(timeout) }
    guard end.error == nil, var response = head else {
      return complete(CallOutOutcome(end.error ?? TransportError(.invalidResponse, "no response")))
    }
    response.body = end.body
    response.trailers = end.trailers ?? HeaderFields()
    complete(.response(response))
  }
}

extension CallOut {
  /// Ends an overdue call-out whose loop is stuck. The result of that loop is dropped. [another loop]
  func completeElsewhere() {
    guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let outcome = instance.callOuts.remove(id) ? .cancelled : timeout
    outcome.lend { result in
      instance.runPosted { order.completion(order.context.address, result) }
    }
    instance.openWork.update { $0 -= 1 }
  }
}

extension CallOut: LoopTimerTarget {
  func timerDidFire(_ timer: LoopTimer) {
    isTimedOut = true
    transfer?.cancel()
  }
}
