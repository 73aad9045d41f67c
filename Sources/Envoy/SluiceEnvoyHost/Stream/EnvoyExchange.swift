import CEnvoy
import SluiceAssembly
import SluiceForeign
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// One stream of Envoy as one transaction.
///
/// The hooks of the worker pass events to the transaction. What the transaction decides is kept, and carried out by the
/// hook, or by the hook `scheduled`. So only the worker of the stream calls Envoy, and never while a stage runs.
///
///     request headers ─ request stages ─ decision ─ continue, or wait for `scheduled`
///     upstream filter ─ issue stages, once for each attempt
///     response headers ─ response stages ─ decision ─ continue, or wait for `scheduled`
///
/// Unchecked because it is confined to its lane, which each call enters.
final class EnvoyExchange: EnvoyFilter, ForeignTransfer, BodySink, @unchecked Sendable {
  enum Phase {
    /// The request stages wait for the end of the body, which Envoy buffers.
    case gatheringRequest
    /// The request stages are called, or suspended.
    case request
    /// The request is on its way, and there is no response yet.
    case upstream
    /// The response stages are called, or suspended.
    case response
    /// The response stages wait for the end of the body, which Envoy buffers.
    case gatheringResponse
    /// The response stages are done, and the body passes inside Envoy.
    case passing
    /// The transaction is over, or Envoy has answered instead.
    case over
  }

  /// What the transaction has decided.
  enum Decision {
    /// The request goes on.
    case request(Request)
    /// The response goes on with this head. Its body passes.
    case head(Response)
    /// The response goes on with this body.
    case whole(Response)
    /// The body of the response is gathered first.
    case gather
    /// The client gets this instead of anything from the upstream.
    case reply(Response)
  }

  let host: EnvoyHost
  let stream: EnvoyStream
  private let metrics: EnvoyMetrics?
  var phase = Phase.request
  var decision: Decision?
  /// The request and the response as Envoy has them.
  var original: Request?
  var originalHead: Response?
  /// The request after the request stages.
  var sent: Request?
  var hop = EnvoyHop()
  /// What has come out of the response stages that see pieces, and was not passed on yet.
  var responseOutput: [UInt8] = []
  /// Whether the transaction knows that the body of the response has arrived.
  var hasResponseEnded = false
  /// Whether a stage has asked for no more pieces of the response now.
  var isPaused = false
  /// Whether the response waits for a stage that sees its pieces, or for the end of the transaction.
  var isResponseHeld = false
  /// Its number among the filters whose requests are on their way.
  var number: Int?
  /// Whether the body of a message is complete. Envoy has buffered it if there is one.
  var isRequestWhole = false
  var isResponseWhole = false
  /// Whether Envoy takes a call to continue the response for one that nothing waits for.
  var cannotContinueResponse = false
  /// The head as the response stages have left it. Its body passes.
  private var finalHead: Response?
  private(set) var transaction: Transaction?
  private(set) var observer: (any TransferObserver)?
  private var scheduler: sluice_envoy_scheduler?
  /// Whether a hook of this stream runs, which carries decisions out when it ends.
  private var isInHook = false
  private var isScheduled = false
  /// Whether Envoy has destroyed the filter.
  private var isEnded = false

  init(_ host: EnvoyHost, _ lane: Lane, _ stream: EnvoyStream, _ metrics: EnvoyMetrics?) {
    self.host = host
    self.stream = stream
    self.metrics = metrics
    super.init(lane)
  }

  override func headers(isRequest: Bool, isLast: Bool) -> sluice_envoy_headers_status {
    inHook { isRequest ? requestHeaders(isLast: isLast) : responseHeaders(isLast: isLast) }
  }

  override func body(isRequest: Bool, isLast: Bool) -> sluice_envoy_body_status {
    inHook { isRequest ? requestBody(isLast: isLast) : responseBody(isLast: isLast) }
  }

  override func trailers(isRequest: Bool) -> sluice_envoy_headers_status {
    inHook { isRequest ? requestTrailers() : responseTrailers() }
  }

  private func inHook<Result>(_ body: () -> Result) -> Result {
    inLane {
      isInHook = true
      defer { isInHook = false }
      return body()
    }
  }

  var hasIssueStages: Bool { transaction.map { !$0.pipeline.issueStages.isEmpty } ?? false }

  // MARK: The transaction

  /// Every status of an upstream is passed on as it is, and no payload is made.
  private static let checks = ResponseChecks(validate: { _ in })

  func begin(_ request: consuming Request, parent: ParentContext) {
    phase = .request
    lane.transport.next = self
    let transaction = Transaction.begin(
      request, on: lane.environment, through: lane.pipeline, parent: parent, sink: self, checks: Self.checks,
      completion: { [self] in complete($0) })
    lane.transport.next = nil
    if isComplete { return }
    self.transaction = transaction
    if observer == nil { lane.transport.expect(self, for: transaction) }
  }

  func started(_ request: consuming Request, _ observer: any TransferObserver) {
    self.observer = observer
    decide(.request(request))
  }

  /// Notes a decision. A hook that runs carries it out; otherwise Envoy is asked to call the hook `scheduled`.
  private func decide(_ decision: Decision) {
    self.decision = decision
    if !isInHook { wake() }
  }

  private func wake() {
    guard !isScheduled, let scheduler else { return }
    isScheduled = true
    sluice_envoy_scheduler_commit(scheduler)
  }

  /// Called at the end of a hook that lets the stream wait.
  func awaitDecision() {
    if scheduler == nil { scheduler = stream.makeScheduler() }
    if decision != nil { wake() }
  }

  private(set) var isComplete = false
  private var error: TransactionError?

  private func complete(_ result: TransactionResult) {
    isComplete = true
    if let transaction { lane.transport.forget(transaction) }
    transaction = nil
    observer = nil
    error = result.error
    host.note(result)
    guard phase != .over else { return }
    // After the head of a response, Envoy resets the stream instead.
    if let error = result.error { return decide(.reply(EnvoyReply.failure(error))) }
    guard let response = result.response else { return }
    switch phase {
    case .gatheringRequest, .request: decide(.reply(response))
    case .response, .gatheringResponse: decide(.whole(response))
    case .passing: if isResponseHeld, !isInHook { wake() }
    case .upstream, .over: break
    }
  }

  // MARK: Decisions

  /// What is told to Envoy after the lane was left.
  private enum Step {
    case none
    case goOn(BodySide)
    case reply(Response)
  }

  /// Called by Envoy after a commit. Envoy can destroy the stream inside of each call.
  override func scheduled() {
    let (first, second) = inHook {
      isScheduled = false
      return (pieceStep(), nextStep())
    }
    for step in [first, second] {
      switch step {
      case .none: break
      case .goOn(let side): if !isEnded { stream.continue(side) }
      case .reply(let response):
        if isEnded { return }
        stream.reply(
          response.status, EnvoyReply.fields(response, isGRPC: isGRPC), response.body.bytes ?? [], details: "sluice")
      }
    }
  }

  /// Passes on pieces that have waited for a stage.
  private func pieceStep() -> Step {
    guard phase != .over, decision == nil else { return .none }
    if isResponseHeld, passResponsePieces(to: SLUICE_ENVOY_BUFFERED) { return .goOn(.response) }
    return .none
  }

  private func nextStep() -> Step {
    guard phase != .over, let decision = decision.take() else { return .none }
    if case .reply(let response) = decision { return answer(response) }
    let side: BodySide
    switch phase {
    case .request: side = .request
    case .response:
      side = .response
      if cannotContinueResponse, let step = replaceResponse(decision) { return step }
    case .gatheringRequest, .upstream, .gatheringResponse, .passing, .over: return .none
    }
    if apply(decision, in: SLUICE_ENVOY_BUFFERED) { return .goOn(side) }
    awaitDecision()
    return .none
  }

  private func answer(_ response: Response) -> Step {
    end(as: .over)
    return .reply(response)
  }

  /// Envoy before 1.39 does not continue a response if the body of the request has gone on meanwhile.
  private func replaceResponse(_ decision: Decision) -> Step? {
    switch decision {
    case .whole(let response): return answer(response)
    case .gather, .request, .reply: return nil
    case .head:
      host.log(
        .warning, "a response stage was suspended while the request was sent; Envoy before 1.39 then cannot continue")
      return answer(EnvoyReply.response(502, .internalError))
    }
  }

  private var isGRPC: Bool { original?.headers["content-type"]?.hasPrefix("application/grpc") ?? false }

  /// Carries out a decision in a hook. Returns whether the message goes on now.
  func settle(in place: sluice_envoy_place) -> Bool {
    guard let decision else { return false }
    // A local reply must not be sent while Envoy still uses the stack of the hook.
    if case .reply = decision { return false }
    self.decision = nil
    return apply(decision, in: place)
  }

  /// Changes the message in Envoy as decided. Returns whether the message goes on. If not, there is another decision, or
  /// the message waits for its body.
  private func apply(_ decision: Decision, in place: sluice_envoy_place) -> Bool {
    switch decision {
    case .request(let request): send(request, in: place)
    case .head(let head): passOn(head)
    case .whole(let response): passOn(whole: response, in: place)
    case .gather: gather()
    case .reply: false
    }
  }

  /// Nothing further is decided for this stream.
  func end(as phase: Phase) {
    self.phase = phase
    transaction?.cancel()
  }

  override func complete() {
    guard let metrics else { return }
    inLane {
      end(as: .over)
      if original != nil { metrics.count(error, on: stream) }
      if let changes = host.takePlanChanges() { metrics.report(changes, on: stream) }
    }
  }

  /// Envoy has destroyed the filter.
  override func end() {
    inLane {
      end(as: .over)
      if let number { host.onTheirWay[lane.loop.index].remove(number) }
      isEnded = true
      if let scheduler { sluice_envoy_scheduler_delete(scheduler) }
      scheduler = nil
    }
  }

  // MARK: Transfer

  func cancel() {
    lane.loop.post { [self] in
      observer?.transferDidEnd(TransferEnd(error: TransportError(.cancelled, "the stream has ended in Envoy")))
    }
  }

  /// The response stages were suspended, and have decided about the body.
  func proceed(_ disposition: BodyDisposition) { take(disposition) }
  func resumeReceiving() {
    isPaused = false
    if isResponseHeld, !isInHook { wake() }
  }

  func resumeSending() {}

  /// The transaction has decided about the body of the response.
  func take(_ disposition: BodyDisposition) {
    switch disposition {
    case .hold: break
    case .stream: if let head = finalHead.take() { decide(.head(head)) }
    case .collect: decide(.gather)
    case .discard: observer?.transferDidEnd(TransferEnd())
    }
  }

  // MARK: Sink

  func begin(_ head: Response) { finalHead = head }

  /// Called only if stages see the pieces of the body. Otherwise, the body passes inside Envoy.
  func receive(_ piece: [UInt8]) -> BodyProgress {
    responseOutput += piece
    return .proceed
  }
}
