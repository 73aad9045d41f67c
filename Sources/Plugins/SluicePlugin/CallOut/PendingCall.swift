import CSluice
import SluiceJSON
import SluiceSupport

/// A call-out for which a task waits: the completion resumes the task, and the task's cancellation ends the call.
final class PendingCall: Sendable {
  private struct State: Sendable {
    var continuation: CheckedContinuation<CallResponse, any Error>?
    var call: sluice_call = 0
    var isCancelled = false
  }

  private let state = Locked(State())
  private let link: HostLink

  init(_ link: HostLink) { self.link = link }

  func response(to request: CallRequest, parent: sluice_token) async throws -> CallResponse {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { $0.continuation = continuation }
        start(request, parent)
      }
    } onCancel: {
      cancel()
    }
  }

  private func start(_ request: CallRequest, _ parent: sluice_token) {
    guard !state.withLock({ $0.isCancelled }) else { return resume(.failure(CancellationError())) }
    var options = sluice_call_options()
    options.size = UInt32(MemoryLayout<sluice_call_options>.size)
    options.timeout_ns = request.timeout.map { max(1, $0.nanoseconds) } ?? 0
    options.maximum_response_bytes = request.maximumResponseBytes.map { UInt64(max(1, $0)) } ?? 0
    options.parent = parent
    switch link.withHost({ Self.start(request, options, self, $0) }) ?? .failure(.ended) {
    case .failure(let failure): resume(.failure(failure))
    case .success(let call):
      let isCancelled = state.withLock { state in
        state.call = call
        return state.isCancelled
      }
      if isCancelled { cancel(call) }
    }
  }

  /// Starts the call-out. The host holds a reference to `pending` until the completion; if it refuses the start, it
  /// holds none.
  private static func start(
    _ request: CallRequest, _ options: sluice_call_options, _ pending: PendingCall, _ host: UnsafePointer<sluice_host>
  ) -> Result<sluice_call, StageFailure> {
    guard let table = host.callOuts else { return .failure(.unsupported) }
    var call: sluice_call = 0
    let context = Unmanaged.passRetained(pending)
    let status = withUnsafePointer(to: options) { options in
      request.document.withUnsafeJSON {
        table.pointee.start(host, $0, options, { completeCall($0, $1) }, context.toOpaque(), &call)
      }
    }
    guard status != 0 else { return .success(call) }
    context.release()
    return .failure(StageFailure(refusedCall: status))
  }

  /// Called once, on a loop.
  fileprivate func complete(_ result: sluice_call_result) { resume(outcome(result)) }

  private func outcome(_ result: sluice_call_result) -> Result<CallResponse, any Error> {
    if result.has_response != 0, let response = result.response {
      return .success(CallResponse(JSONValue(retaining: response)))
    }
    if state.withLock({ $0.isCancelled }) { return .failure(CancellationError()) }
    return .failure(
      StageFailure(code: ErrorCode(rawValue: String(result.error_code)), message: String(result.error_message)))
  }

  private func resume(_ result: Result<CallResponse, any Error>) {
    state.withLock { $0.continuation.take() }?.resume(with: result)
  }

  /// Ends the call of a cancelled task. The completion follows and resumes the task. [any]
  private func cancel() {
    let call = state.withLock { state in
      state.isCancelled = true
      return state.call
    }
    if call != 0 { cancel(call) }
  }

  private func cancel(_ call: sluice_call) {
    link.withHost { host in
      _ = host.callOuts?.pointee.cancel(host, call)
    }
  }
}

private func completeCall(_ context: UnsafeMutableRawPointer?, _ result: UnsafePointer<sluice_call_result>?) {
  guard let context, let result else { return }
  Unmanaged<PendingCall>.fromOpaque(context).takeRetainedValue().complete(result.pointee)
}

extension StageFailure {
  fileprivate static var unsupported: StageFailure {
    StageFailure(code: "unsupported", message: "this host does not support call-outs")
  }
  fileprivate static var ended: StageFailure {
    StageFailure(code: "closing", message: "the instance has ended; nothing was sent")
  }

  /// The error for a refused `start`.
  fileprivate init(refusedCall status: sluice_status) {
    switch Int(status) {
    case Int(SLUICE_STATUS_LIMIT):
      self.init(code: "limit", message: "too many call-outs of this plugin are under way")
    case Int(SLUICE_STATUS_CLOSING): self = .ended
    case Int(SLUICE_STATUS_STALE):
      self.init(code: "cancelled", message: "the exchange of the call-out has ended")
    case Int(SLUICE_STATUS_REFUSED):
      self.init(code: "refused", message: "no call-out can be made in a trial run, or before the plugin is activated")
    case Int(SLUICE_STATUS_INVALID):
      self.init(code: "invalid_request", message: "the request of a call-out is malformed; the log says where")
    default: self.init(code: "refused", message: "the host refused a call-out with status \(status)")
    }
  }
}
