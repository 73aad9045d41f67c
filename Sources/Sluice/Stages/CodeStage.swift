import SluiceLocks
import SluiceMessages
import SluicePipeline

/// Runs ``StageCode`` as a stage of the pipeline.
final class CodeStage: Interceptor, Tracer {
  let code: StageCode
  let capabilities: StageCapabilities
  /// Suspended calls, so that a cancellation finds its task.
  private let suspended = Locked<[SuspensionToken: Task<Void, Never>]>([:])

  init(_ code: StageCode) {
    self.code = code
    var capabilities: StageCapabilities = []
    if code.request != nil { capabilities.insert(.request) }
    if code.issue != nil { capabilities.insert(.issue) }
    if code.response != nil { capabilities.formUnion([.response, .wantsResponseBody]) }
    if code.redirect != nil { capabilities.insert(.redirect) }
    if code.challenge != nil { capabilities.insert(.challenge) }
    if code.trace != nil { capabilities.insert(.trace) }
    self.capabilities = capabilities
  }

  func interceptRequest(_ exchange: Exchange) -> Verdict {
    guard let function = code.request else { return .proceed }
    if let failure = Self.settle(exchange) { return failure }
    let context = RequestContext(exchange)
    return run(exchange, exchange.nativeRequest) { request in
      try await function(&request, context)
      try request.validate()
    } adopt: {
      var request = $1
      request.headers.markAdded(since: $0.nativeRequest.headers)
      $0.nativeRequest = request
      return .proceed
    }
  }

  func interceptResponse(_ exchange: Exchange) -> Verdict {
    guard let function = code.response else { return .proceed }
    if let failure = Self.settle(exchange) { return failure }
    guard let response = exchange.nativeResponse else { return .proceed }
    let context = ResponseContext(exchange)
    return run(exchange, response) { response in
      try await function(&response, context)
      try response.headers.validate()
    } adopt: {
      $0.nativeResponse = $1
      return .proceed
    }
  }

  func interceptIssue(_ exchange: Exchange) -> Verdict {
    guard let function = code.issue, var headers = exchange.issueHeaders else { return .proceed }
    do {
      try function(&headers, RequestContext(exchange))
      try headers.validate()
      try headers.validateHost()
      exchange.issueHeaders = headers
      return .proceed
    } catch { return Self.verdict(error, exchange) }
  }

  func record(_ event: TraceEvent) { code.trace?(event) }

  func suspensionWasCancelled(_ token: SuspensionToken) {
    suspended.withLock { $0.removeValue(forKey: token) }?.cancel()
  }

  /// The code sees native messages, so an authoritative document is converted back first.
  private static func settle(_ exchange: Exchange) -> Verdict? {
    do {
      try exchange.settleRequest()
      try exchange.settleResponse()
      return nil
    } catch { return .fault(StageFailure(code: error.code, message: error.message)) }
  }

  /// Runs the function as a task on the loop, which starts at once: if it does not suspend, its verdict is known on
  /// return.
  func run<Message: Sendable>(
    _ exchange: Exchange, _ message: Message, _ function: @escaping @Sendable (inout Message) async throws -> Void,
    adopt: @escaping @Sendable (Exchange, Message) -> Verdict
  ) -> Verdict {
    let call = StageCall()
    let executor = exchange.loop as? any TaskExecutor
    let suspensions = exchange.suspensions
    let task = Task.immediate(executorPreference: executor) {
      var message = message
      let result: Result<Message, any Error>
      do {
        try await function(&message)
        result = .success(message)
      } catch { result = .failure(error) }
      call.finish { [self] token in
        guard let token else { return Self.conclude(result, exchange, adopt) }
        suspended.withLock { _ = $0.removeValue(forKey: token) }
        // Gone: the deadline has passed, or the transaction has ended.
        guard suspensions?.exchange(for: token) != nil else { return .suspended }
        let verdict = Self.conclude(result, exchange, adopt)
        _ = suspensions?.resume(token, verdict)
        return verdict
      }
    }
    return call.verdict { [self] in
      guard let token = exchange.suspend() else { return nil }
      suspended.withLock { $0[token] = task }
      return token
    }
  }

  private static func conclude<Message>(
    _ result: Result<Message, any Error>, _ exchange: Exchange, _ adopt: (Exchange, Message) -> Verdict
  ) -> Verdict {
    switch result {
    case .success(let message): return adopt(exchange, message)
    case .failure(let error): return verdict(error, exchange)
    }
  }

  private static func verdict(_ error: any Error, _ exchange: Exchange) -> Verdict {
    switch error {
    case let retry as RetryRequestError: return .retry(after: retry.delay)
    case let override as ResponseOverride:
      exchange.nativeResponse = override.response
      exchange.hasOwnResponseBody = true
      return .respond
    case let failure as StageFailure: return .fail(failure)
    case let error as MessageError: return .fail(StageFailure(code: error.code.text, message: error.description))
    default: return .fail(StageFailure(code: "stage_failed", message: "\(error)"))
    }
  }
}

/// One call of asynchronous code: either it ends before the caller has returned, or it holds a token.
///
/// Both sides run on the loop's thread, one after the other; unchecked for that reason. Without an executor (a loop of a
/// test) the code may not suspend.
private final class StageCall: @unchecked Sendable {
  private var early: Verdict?
  private var token: SuspensionToken?
  private var isReturned = false

  func finish(_ conclude: (SuspensionToken?) -> Verdict) {
    if isReturned { _ = conclude(token) } else { early = conclude(nil) }
  }

  func verdict(suspend: () -> SuspensionToken?) -> Verdict {
    if let early { return early }
    isReturned = true
    token = suspend()
    return .suspended
  }
}
