package import SluiceMessages
package import SluiceRecords
package import SluiceTraceContext

/// One attempt as the stages see it: request, response when there is one, and the facts of its transaction.
///
/// Unchecked because it is confined to the loop of its transaction: the transaction calls stages only there.
package final class Exchange: @unchecked Sendable {
  /// The phase of the transaction in which the stages are called now.
  package enum Phase: Sendable, Hashable {
    case request, issue, redirect, challenge, response, failure, trace
  }

  package let id: TransactionID
  package internal(set) var phase = Phase.request
  /// Counted from 0; each retry adds one.
  package internal(set) var attempt = 0
  /// The hop within the attempt, counted from 0.
  package internal(set) var hop = 0
  package let started: Instant
  package internal(set) var deadline: Instant
  /// A stage has set the deadline.
  var isDeadlineOwn = false
  /// The limits that stages have lowered; nil if none.
  package internal(set) var limits: ExchangeLimits?
  package let parent: ParentContext
  let requestIDHeader: String

  /// The request of this attempt; not up to date while its document is authoritative (see ``requestDocument``).
  package var nativeRequest: Request
  /// The response, if there is one; not up to date while its document is authoritative.
  package var nativeResponse: Response?
  /// The document forms that stages have requested in this phase.
  package var requestDocument: DocumentForm?
  package var responseDocument: DocumentForm?
  /// The headers of the hop, while it is being issued.
  package var issueHeaders: HeaderFields?
  /// The headers of the hop after it was issued; nil before.
  package internal(set) var issued: IssuedFields? {
    didSet { issuedTrace = nil }
  }
  /// The trace in ``issued``, parsed when a tracer first asks. Nil until then; `.some(nil)` if the hop sent no trace.
  private var issuedTrace: TraceParent??

  /// The trace and the span that the current hop has sent; nil before it was issued, and if it sent none. [loop]
  var traceOfHop: TraceParent? {
    if let issuedTrace { return issuedTrace }
    let trace = issued?.trace
    issuedTrace = .some(trace)
    return trace
  }
  /// What happened to the headers of each hop so far; nil if no explanation is wanted.
  package internal(set) var explanation: [HopExplanation]?
  var requestExplanation: RequestExplanation?

  /// The stages that have requested the whole response body in this attempt.
  var responseBodyAskers: [ObjectIdentifier] = []

  /// A stage has replaced the body from the wire, perhaps by an empty one: the rest of the wire's body and its trailers
  /// are discarded. Valid until the next head.
  package var hasOwnResponseBody = false

  /// Sets a streamed body for a response that a stage has set. [loop]
  package func streamResponseBody(_ stream: BodyStream) {
    nativeResponse?.body = .stream(stream)
    hasOwnResponseBody = true
    transaction?.machine.streamsOwnBody = true
  }

  /// The attributes that stages have set, over all attempts.
  package var attributes = AttributeList()

  /// The place that is called now, if it has its own configuration.
  package var place: (any AnyObject & Sendable)?

  /// The data that instances keep for this transaction; released when it ends.
  package var attachments = Attachments()

  /// The transaction that calls the stages; released when it ends.
  var transaction: Transaction?
  package let loop: any EventLoop

  init(
    loop: any EventLoop, id: TransactionID, request: Request, started: Instant, deadline: Instant,
    parent: ParentContext, requestIDHeader: String
  ) {
    self.loop = loop
    self.id = id
    self.started = started
    self.deadline = deadline
    self.parent = parent
    self.requestIDHeader = requestIDHeader
    nativeRequest = request
  }

  /// The same in all attempts: the value of the request id header in the caller's request, otherwise the transaction's
  /// id.
  package var requestID: String {
    if madeRequestID == nil { madeRequestID = givenRequestID ?? id.description }
    return madeRequestID ?? ""
  }

  private var madeRequestID: String?

  /// Whether the request was asked for the header, and its value then. Kept, because the request may change.
  private var hasReadRequestID = false
  private var readRequestID: String?

  /// The value of the request id header; nil if the request has none, and its id is the transaction's.
  var givenRequestID: String? {
    if !hasReadRequestID {
      hasReadRequestID = true
      readRequestID = nativeRequest.headers[requestIDHeader]
    }
    return readRequestID
  }

  /// Calls the body with the bytes of ``requestID``, without making a string of the transaction's id. [loop]
  package func withRequestID(_ body: (Span<UInt8>) -> Void) {
    if let given = givenRequestID { return body(given.utf8.span) }
    let text = id.text
    body(text.span)
  }

  /// Set in a copy, because its request may have changed since the id was read.
  func keepRequestID(_ id: String) {
    hasReadRequestID = true
    readRequestID = id
  }

  /// 64 random bits, for ids. [loop]
  package func randomBits() -> UInt64 { loop.random.next() }

  /// The status of the response, 0 without one; not up to date while its document is authoritative. Read in place,
  /// because reading the optional response would copy and retain all of it.
  package var responseStatus: Int { Self.status(&nativeResponse) }

  /// Whether there is a response; read in place for the same reason.
  package var hasResponse: Bool { Self.isThere(&nativeResponse) }

  var isResponseBodyEmpty: Bool { Self.isBodyEmpty(&nativeResponse) }

  /// Whether a stage streams the body of the response, and no reader has taken the stream yet.
  var hasStreamedResponse: Bool {
    guard let response = nativeResponse, case .stream = response.body else { return false }
    return true
  }

  func setResponseBody(_ body: consuming Body) { nativeResponse?.body = consume body }

  /// Whether the request has trailers.
  var hasRequestTrailers: Bool { Self.hasTrailers(&nativeRequest) }

  private static func hasTrailers(_ request: inout Request) -> Bool { request.hasTrailers }
  private static func status(_ response: inout Response?) -> Int { response?.status ?? 0 }
  private static func isThere(_ response: inout Response?) -> Bool { response != nil }
  private static func isBodyEmpty(_ response: inout Response?) -> Bool { response?.body.isEmpty ?? true }

  /// Takes the token with which the stage that is being called will be resumed; nil if it has already taken one, or if
  /// suspending is not allowed. [loop]
  package func suspend() -> SuspensionToken? { transaction?.takeToken() }

  /// Requests that the stage is called with the whole response body of this attempt. [loop, from on_request]
  package func wantResponseBody(_ interceptor: any Interceptor) {
    let asker = interceptor.identity
    if !responseBodyAskers.contains(asker) { responseBodyAskers.append(asker) }
  }

  /// Adds bytes that replace the piece of a suspended call; they are sent on when the call is resumed. Returns false if
  /// they would exceed `limit`, nil if the token suspends no such call. [loop]
  package func writePiece(_ bytes: UnsafeBufferPointer<UInt8>, upTo limit: Int, by token: SuspensionToken) -> Bool? {
    for passage in transaction?.openPassages ?? [] {
      if let isTaken = unsafe passage.write(bytes, upTo: limit, by: token) { return isTaken }
    }
    return nil
  }

  /// Whether a stage can add trailers to the request body that passes: to a body that is gathered, or if the transfer
  /// under way sends them. [loop]
  package var takesRequestTrailers: Bool {
    guard let transaction, transaction.requestPassage != nil else { return false }
    return transaction.transfer?.sendsTrailers ?? true
  }

  /// The table in which tokens of this exchange are resumed; nil after the transaction has ended. [loop]
  package var suspensions: SuspensionTable? { transaction?.environment.suspensions }

  /// The connection of the current hop, from its issue stages on; nil before, and if such facts are not wanted
  /// (``TransferOptions/collectsConnection``). [loop]
  package var connection: ConnectionFacts? {
    guard let transaction else { return detachedConnection }
    return transaction.transfer?.connection ?? transaction.endedConnection
  }

  /// The connection in a copy.
  var detachedConnection: ConnectionFacts?
  var detachedWantsSpans = false

  /// Nil before the first span.
  var spans: SpanTable?

  /// The stage that is called now; nil between calls.
  package var currentStageName: String? { transaction?.currentStageName }
}

/// The data that instances keep for one transaction, by the identity of the instance. The list is short enough to
/// search.
package struct Attachments {
  private var entries: [(owner: ObjectIdentifier, value: AnyObject)] = []

  package subscript(owner: AnyObject) -> AnyObject? {
    get { entries.first { $0.owner == ObjectIdentifier(owner) }?.value }
    set {
      let identifier = ObjectIdentifier(owner)
      let index = entries.firstIndex { $0.owner == identifier }
      switch (index, newValue) {
      case (let index?, let value?): entries[index].value = value
      case (let index?, nil): entries.remove(at: index)
      case (nil, let value?): entries.append((identifier, value))
      case (nil, nil): break
      }
    }
  }

  mutating func removeAll() { entries.removeAll() }
}
