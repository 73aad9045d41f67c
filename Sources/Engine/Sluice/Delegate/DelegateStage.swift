import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport
import SluiceTransport

/// Lets a delegate decide about redirects and challenges, and reports the progress to the delegate. The pipeline calls
/// this object like a stage.
final class DelegateStage: Interceptor {
  let capabilities: StageCapabilities = [.redirect, .challenge]
  let overdueWords = "it did not decide"
  private let delegate: any TransactionDelegate
  /// The tasks of suspended calls, which a cancellation must be able to cancel.
  private let suspended = Locked<[SuspensionToken: Task<Void, Never>]>([:])

  private let members: [any TransactionDelegate]
  let handshakePolicy: HandshakePolicy?
  /// The context of the code that made the call; nil for the delegate of an engine.
  private let context: CallerContext?

  init(_ delegate: any TransactionDelegate, _ context: CallerContext?) {
    self.delegate = delegate
    self.context = context
    let members = DelegateChain.members(delegate)
    self.members = members
    let chain = delegate as? DelegateChain
    let own = context == nil ? [] : members[..<(chain?.callMembers ?? members.count)]
    handshakePolicy = Self.policy(of: members[...], own, client: chain?.client ?? 0)
  }

  /// - Parameter own: the members that belong to the call itself.
  private static func policy(
    of members: ArraySlice<any TransactionDelegate>, _ own: ArraySlice<any TransactionDelegate>, client: UInt64
  ) -> HandshakePolicy? {
    let decidesTrust = members.contains { $0 is any ServerTrustDelegate }
    let choosesCertificate = members.contains { $0 is any ClientCertificateDelegate }
    guard decidesTrust || choosesCertificate else { return nil }
    let choosesForCall = own.contains { $0 is any ClientCertificateDelegate }
    let isOfCall = choosesForCall || own.contains { $0 is any ServerTrustDelegate }
    return HandshakePolicy(
      HandshakePolicy.Scope(client: client, isOfCall: isOfCall), decidesTrust: decidesTrust,
      choosesCertificate: choosesCertificate, choosesForCall: choosesForCall)
  }

  func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
    let context = ResponseContext(exchange)
    return run(exchange) { [delegate] in
      try await delegate.transaction(context, willFollow: redirect)
    } adopt: {
      $1 == .follow ? .proceed : .respond
    }
  }

  func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict {
    let context = ResponseContext(exchange)
    return run(exchange) { [delegate] in
      try await delegate.transaction(context, didReceive: offer)
    } adopt: {
      Self.answer(offer, $1, $0)
    }
  }

  func suspensionWasCancelled(_ token: SuspensionToken) {
    suspended.withLock { $0.removeValue(forKey: token) }?.cancel()
  }

  private static func answer(_ offer: ChallengeOffer, _ decision: ChallengeDecision, _ exchange: Exchange) -> Verdict {
    switch decision {
    case .performDefaultHandling: return .proceed
    case .cancel:
      return .fail(
        StageFailure(
          code: .cancelled, message: "it cancelled at the challenge \(offer.challenge.scheme)"))
    case .answer(let value):
      do { try HeaderFields.check(name: offer.credentialsHeader.utf8.span, value: value.utf8.span) } catch {
        return .fail(StageFailure(code: error.code, message: error.description))
      }
      exchange.requestForms.native.headers[offer.credentialsHeader] = value
      return .respond
    case .credentials(let user, let password):
      guard let value = Credentials.answer(Array(user.utf8), Array(password.utf8), offer, exchange) else {
        return .proceed
      }
      exchange.requestForms.native.headers[offer.credentialsHeader] = value
      return .respond
    }
  }

  /// Runs the function as a task on the loop. The task starts at once, so the verdict is known on return if the
  /// function does not suspend.
  private func run<Decision: Sendable>(
    _ exchange: Exchange, _ function: @escaping @Sendable () async throws -> Decision,
    adopt: @escaping @Sendable (Exchange, Decision) -> Verdict
  ) -> Verdict {
    let call = DelegateCall()
    let executor = exchange.loop as? any TaskExecutor
    let suspensions = exchange.suspensions
    let task = inContext {
      Task.immediate(executorPreference: executor) {
        let result: Result<Decision, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        call.finish { [self] token in
          guard let token else { return Self.conclude(result, exchange, adopt) }
          suspended.withLock { _ = $0.removeValue(forKey: token) }
          // The verdict comes too late, because the deadline has passed or the transaction has ended.
          guard suspensions?.exchange(for: token) != nil else { return .suspended }
          let verdict = Self.conclude(result, exchange, adopt)
          _ = suspensions?.resume(token, verdict)
          return verdict
        }
      }
    }
    return call.verdict { [self] in
      guard let token = exchange.suspend() else { return nil }
      suspended.withLock { $0[token] = task }
      return token
    }
  }

  private func inContext<Result>(_ body: () -> Result) -> Result { context.map { $0.run(body) } ?? body() }

  private static func conclude<Decision>(
    _ result: Result<Decision, any Error>, _ exchange: Exchange, _ adopt: (Exchange, Decision) -> Verdict
  ) -> Verdict {
    switch result {
    case .success(let decision): return adopt(exchange, decision)
    case .failure(let error): return .fail(failure(error))
    }
  }

  private static func failure(_ error: any Error) -> StageFailure {
    error as? StageFailure ?? StageFailure(message: "\(error)")
  }
}

extension DelegateStage: HopObserver {
  func transaction(_ id: TransactionID, didSend progress: TransferProgress) {
    inContext { delegate.transaction(id, didSend: progress) }
  }

  func transaction(_ id: TransactionID, didReceive progress: TransferProgress) {
    inContext { delegate.transaction(id, didReceive: progress) }
  }

  func transaction(_ id: TransactionID, didReceiveInformational status: Int, _ headers: HeaderFields) {
    inContext { delegate.transaction(id, didReceiveInformational: status, headers: headers) }
  }

  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) {
    inContext { delegate.transaction(id, didEndHop: metrics) }
  }

  func decide(_ question: HandshakeQuestion, _ exchange: Exchange) -> () -> Void {
    let context = RequestContext(exchange)
    let task = inContext {
      Task.immediate(executorPreference: exchange.loop as? any TaskExecutor) { [self] in
        do {
          var decision = HandshakeDecision.performDefaultHandling
          for delegate in members where decision == .performDefaultHandling {
            decision = try await Self.ask(delegate, context, question.challenge)
          }
          question.give(.success(decision), by: self)
        } catch {
          question.give(.failure(Self.failure(error)), by: self)
        }
      }
    }
    return { task.cancel() }
  }

  private static func ask(
    _ delegate: any TransactionDelegate, _ context: RequestContext, _ challenge: HandshakeChallenge
  ) async throws -> HandshakeDecision {
    switch challenge {
    case .serverTrust(let trust):
      guard let delegate = delegate as? any ServerTrustDelegate else { return .performDefaultHandling }
      return switch try await delegate.transaction(context, didReceive: trust) {
      case .performDefaultHandling: .performDefaultHandling
      case .accept: .accept
      case .refuse: .refuse
      }
    case .clientCertificate(let request):
      guard let delegate = delegate as? any ClientCertificateDelegate else { return .performDefaultHandling }
      return switch try await delegate.transaction(context, didReceive: request) {
      case .performDefaultHandling: .performDefaultHandling
      case .use(let identity): .use(identity)
      case .cancel: .refuse
      }
    }
  }
}

extension RequestContext {
  init(_ exchange: Exchange) {
    let now = exchange.loop.now
    self.init(
      path: exchange.requestForms.native.url.path, method: exchange.requestForms.native.method,
      attemptNumber: exchange.attempt,
      requestID: exchange.requestID, transactionID: exchange.id, hop: exchange.hop,
      elapsed: now.duration(since: exchange.started),
      remaining: exchange.deadline == .distantFuture ? nil : exchange.deadline.duration(since: now),
      parent: exchange.parent)
  }
}

extension ResponseContext {
  init(_ exchange: Exchange) { self.init(request: RequestContext(exchange)) }
}

/// One call of asynchronous code. If the code has not ended when the caller must return, the call stores a token to
/// resume the caller later.
///
/// `Sendable` is unchecked because both sides run on the loop's thread, one after the other. On a loop that is not an
/// executor, such as the loop of a test, the code must not suspend.
private final class DelegateCall: @unchecked Sendable {
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
