import CAttachABI
import SluiceAttachRules
import SluiceForeign
import SluiceLoop
import SluiceMessages
import SluicePipeline

/// A transfer of the program, with all its hops, and the transaction that runs for it. Libcurl decides when a hop
/// begins: `transferDidContinue` ends one hop and begins the next.
///
/// Unchecked because it is confined to its loop, which each call enters.
final class AttachedTransfer: ForeignTransfer, @unchecked Sendable {
  /// How long a suspended stage without a deadline of its own may keep the program waiting.
  static let patience = Duration.seconds(30)

  private let pipeline: AttachedPipeline
  let lane: Lane
  /// The memory of the last answer, which must stay valid as the ABI promises.
  private var memory = TextMemory()
  var transaction: Transaction?
  var observer: (any TransferObserver)?
  /// The program's request; nil without request stages, because only they change it.
  private var original: Request?
  /// The time at which the transfer stops waiting for suspended request stages.
  private var limit = Instant.distantFuture
  /// The request after the request stages; nil until they have decided.
  private var request: Request?
  private var changes = HeaderChanges()
  /// Whether libcurl has header lines of the host in place of the program's lines.
  private var hasOwnLines = false
  var isIssued = false
  /// The URL of the first hop; libcurl sends the program's credentials only to its origin.
  private var firstURL: HTTPURL?
  private var watch = HopWatch()
  /// Whether response stages, tracers or an explanation get timings, addresses and the fields of responses.
  private var isObserved = false
  /// Whether the response stages run before the program gets anything of the response.
  private(set) var holdsResponse = false
  /// What happens to the body of the response; nil before its head has arrived.
  var disposition: BodyDisposition?
  var result: TransactionResult?

  init(_ pipeline: AttachedPipeline, _ lane: Lane) {
    self.pipeline = pipeline
    self.lane = lane
  }

  // MARK: Transfer

  /// The transaction cannot control libcurl's transfer: the program decides how long it runs, and takes the body
  /// itself.
  func cancel() {}
  func resumeReceiving() {}
  func resumeSending() {}

  /// Takes the decision of the response stages about the body.
  func proceed(_ disposition: BodyDisposition) { self.disposition = disposition }

  func started(_ request: consuming Request, _ observer: any TransferObserver) {
    self.request = request
    self.observer = observer
  }

  // MARK: Begin

  /// Runs the request stages, inside the loop. Returns nil if a stage is suspended and `blocks` is false.
  func begin(_ original: consuming Request, blocks: Bool) -> Answer? {
    let published = lane.pipeline
    holdsResponse = !published.responseStages.isEmpty
    isObserved = holdsResponse || !published.tracers.isEmpty || pipeline.explains
    if !published.requestStages.isEmpty { self.original = copy original }
    lane.transport.next = self
    let transaction = Transaction.begin(
      original, on: lane.environment, through: published, parent: pipeline.parent, completion: { [self] in finish($0) })
    lane.transport.next = nil
    if result == nil { self.transaction = transaction }
    if result == nil, request == nil { expectRequest(of: transaction) }
    return decide(blocks: blocks)
  }

  /// Notes that a request stage is suspended, so that the transport gets the request later.
  private func expectRequest(of transaction: Transaction) {
    lane.transport.expect(self, for: transaction)
    limit = lane.loop.now + Self.patience
  }

  /// Returns the decision of the request stages; nil while a stage is suspended and `blocks` is false.
  func goOn(blocks: Bool) -> Answer? {
    if blocks || lane.loop.now >= limit {
      lane.loop.enter()
    } else if !lane.loop.enterIfFree() {
      // Another thread runs a stage in this loop, and the calling thread must not wait for it, because it has other
      // transfers.
      return nil
    }
    defer { lane.loop.leave() }
    return decide(blocks: blocks)
  }

  private func decide(blocks: Bool) -> Answer? {
    if request == nil, result == nil {
      guard blocks || lane.loop.now >= limit else { return nil }
      wait(until: limit) { request != nil || result != nil }
    }
    guard let request else { return refusal }
    guard let original = original.take() else { return .proceed }
    changes = HeaderChanges(from: original.headers, to: request.headers)
    return Answer(changing: original, to: request)
  }

  /// Waits for a stage that is suspended.
  func wait(until limit: Instant? = nil, for condition: () -> Bool) {
    let limit = limit ?? lane.loop.now + Self.patience
    if lane.loop.wait(until: limit, for: condition) { return }
    transaction?.expireSuspensions("it did not resume within the \(Self.patience) that a program waits")
  }

  private func finish(_ result: TransactionResult) {
    self.result = result
    if let transaction { lane.transport.forget(transaction) }
    transaction = nil
    observer = nil
    pipeline.report(result)
  }

  var refusal: Answer {
    guard let error = result?.error else {
      return .refusal("a stage did not resume within \(Self.patience)")
    }
    return .refusal(error.stage.map { "stage \"\($0)\": \(error.message)" } ?? error.message)
  }

  // MARK: Hops

  /// Runs the issue stages of a hop.
  func issue(_ hop: sluice_attach_hop) -> Answer {
    lane.loop.enter()
    defer { lane.loop.leave() }
    guard let observer, result == nil else { return .proceed }
    let url = isIssued ? lane.urls.read(hop.url.borrowed) : nil
    let lines = HeaderLines(hop.request.pointee, withoutCredentials: isIssued && url?.origin != firstURL?.origin)
    var fields = lines.fields
    if isIssued {
      guard let url, continueWith(hop, url, &fields, observer) else { return give(lines, lines.fields) }
    } else {
      changes.apply(to: &fields)
      isIssued = true
      firstURL = request?.url
      if isObserved { watch.begin(hop.facts?.pointee, at: lane.loop.now) }
    }
    guard observer.transferWillIssue(&fields) else {
      observer.transferDidEnd(TransferEnd(error: TransportError(.cancelled, "a stage ended the hop")))
      return refusal
    }
    return give(lines, fields)
  }

  private func give(_ lines: HeaderLines, _ fields: HeaderFields) -> Answer {
    guard let changed = lines.lines(for: fields) ?? (hasOwnLines ? lines.own : nil) else { return .proceed }
    hasOwnLines = true
    return .lines(changed)
  }

  /// Reports the next hop to the pipeline. A hop whose URL cannot be read is not reported, and stages set nothing
  /// there.
  private func continueWith(
    _ hop: sluice_attach_hop, _ url: HTTPURL, _ fields: inout HeaderFields, _ observer: any TransferObserver
  ) -> Bool {
    guard var next = request else { return false }
    if url.origin != next.url.origin { changes.leaveOrigin() }
    changes.apply(to: &fields)
    let facts = hop.facts?.pointee
    let head = hop.previous.flatMap { Response($0.pointee, facts) }
    // Without a redirect, the hop repeats the request, whose URL libcurl may spell differently. So the known URL is
    // kept.
    if head.map({ Redirect.isRedirect($0.status) }) ?? false { next.url = url }
    next.method = hop.method.string
    next.headers = fields
    if next.method == "GET" || next.method == "HEAD" { next.body = .empty }
    let leads = head.map { Redirect.isRedirect($0.status) || $0.status == 401 || $0.status == 407 } ?? false
    observer.transferDidContinue(
      after: leads ? head : nil, with: next, timings(facts))
    if isObserved { watch.begin(facts, at: lane.loop.now) }
    request = next
    return true
  }

  // MARK: End

  /// Ends the transaction. Call it when the program's transfer has ended.
  func end(_ end: sluice_attach_end) {
    lane.loop.enter()
    defer { lane.loop.leave() }
    if result == nil { complete(end) }
    // Response stages can be suspended in `on_failure`.
    if result == nil, holdsResponse, !end.is_cancelled { wait { result != nil } }
    guard result == nil, let transaction else { return }
    // A stage is still suspended, or the transaction waits for something that never happens here.
    transaction.cancel()
    _ = lane.loop.wait(until: lane.loop.now + .seconds(1)) { result != nil }
  }

  private func complete(_ end: sluice_attach_end) {
    guard let observer else { return }
    if end.is_cancelled {
      transaction?.cancel()
      return
    }
    let facts = end.facts?.pointee
    var head = isIssued && disposition == nil ? end.response.flatMap { Response($0.pointee, facts) } : nil
    let hasHead = head != nil || disposition != nil
    let error = TransportError(curlCode: end.code, end.reason.string, hasHead: hasHead)
    // If response stages hold the response and have not seen its head, the program has not got the head either.
    if let head = head.take(), !holdsResponse || error == nil { _ = observer.transferDidReceiveHead(head) }
    let missing =
      !hasHead && error == nil ? TransportError(.invalidResponse, "libcurl reported no response and no error") : nil
    observer.transferDidEnd(TransferEnd(error: error ?? missing, timings: timings(facts)))
  }

  private func timings(_ facts: sluice_attach_facts?) -> TransferTimings {
    isObserved ? watch.timings(facts, at: lane.loop.now) : Self.noTimings
  }

  private static let noTimings = TransferTimings()

  // MARK: Answers

  /// Writes the answer for the preloaded library, with texts in the memory of the transfer. Nil becomes
  /// SLUICE_ATTACH_WAIT.
  func write(_ answer: Answer?, to form: UnsafeMutablePointer<sluice_attach_answer>) {
    form.pointee.holds_response = holdsResponse
    form.pointee.wants_facts = isObserved
    guard let answer else {
      form.pointee.outcome = SLUICE_ATTACH_WAIT
      return
    }
    answer.write(to: form, in: &memory)
  }
}
