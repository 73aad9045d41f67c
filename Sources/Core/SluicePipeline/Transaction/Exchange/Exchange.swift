package import SluiceMessages
package import SluiceTraceContext

/// One attempt as the stages see it: request, response when there is one, and the facts of its transaction.
///
/// A ``Transaction`` is a subclass of this class, so it is its own exchange; only a detached copy is an object of this
/// class itself. All stored properties are final, because the subclass overrides none of them.
///
/// Unchecked because it is confined to the loop of its transaction: the transaction calls stages only there.
package class Exchange: @unchecked Sendable {
  /// The phase of the transaction in which the stages are called now.
  package enum Phase: Sendable, Hashable {
    case request, issue, redirect, challenge, response, failure, trace
  }

  package final let id: TransactionID
  package internal(set) final var phase = Phase.request
  /// The number of the attempt, counted from 0; each retry adds one.
  package internal(set) final var attempt = 0
  /// The hop within the attempt, counted from 0.
  package internal(set) final var hop = 0
  package final let started: Instant
  package internal(set) final var deadline: Instant
  /// Whether a stage has set the deadline.
  final var isDeadlineOwn = false
  /// The limits that stages have lowered; nil if none.
  package final var limits: ExchangeLimits? { sharedLimits?.value }
  final var sharedLimits: SharedValue<ExchangeLimits>?
  package final let parent: ParentContext
  /// The connection on which a server has received the request; nil for a request that was made in this process.
  package internal(set) final var client: ConnectionFacts?
  final let requestIDHeader: String

  /// The request of this attempt.
  package final var requestForms: RequestForms
  /// The response, if there is one.
  package final var responseForms = ResponseForms()
  /// The headers of the hop, while it is being issued.
  package final var issueHeaders: HeaderFields?
  /// The headers of the hop after it was issued; nil before.
  package internal(set) final var issued: IssuedFields? {
    didSet { issuedTrace = nil }
  }
  /// The trace in ``issued``, parsed when a tracer first asks. Nil until then; `.some(nil)` if the hop sent no trace.
  private final var issuedTrace: TraceParent??

  /// The trace and the span that the current hop has sent. Nil before the hop was issued, and if it sent none. [loop]
  final var traceOfHop: TraceParent? {
    if let issuedTrace { return issuedTrace }
    let trace = issued?.trace
    issuedTrace = .some(trace)
    return trace
  }
  /// What happened to the headers of each hop so far; nil if no explanation is wanted.
  package internal(set) final var explanation: [HopExplanation]?
  final var requestExplanation: RequestExplanation?

  /// The stages that have requested the whole response body in this attempt.
  final var responseBodyAskers: [ObjectIdentifier] = []

  /// Whether a stage has replaced the body from the wire, perhaps by an empty body. The rest of the wire's body and its
  /// trailers are then discarded. Reset with the next head.
  package final var hasOwnResponseBody = false

  /// Sets a streamed body for a response that a stage has set. [loop]
  package final func streamResponseBody(_ stream: BodyStream) {
    responseForms.native?.body = .stream(stream)
    hasOwnResponseBody = true
    transaction?.machine.streamsOwnBody = true
  }

  /// The attributes that stages have set, over all attempts.
  package final var attributes = AttributeList()

  /// The place in the pipeline that is called now, if this place has its own configuration.
  package final var place: (any AnyObject & Sendable)?

  /// The data that instances keep for this transaction; released when the transaction ends.
  package final var attachments = Attachments()

  /// Whether this is a transaction that is running, so that it calls the stages of its own exchange.
  final var isRunning = false

  /// The transaction that calls the stages; nil after the transaction has ended, and in a copy.
  final var transaction: Transaction? { isRunning ? self as? Transaction : nil }

  /// The number of the snapshot that the transaction runs on; 0 in a copy. [loop]
  package final var snapshot: Int { (self as? Transaction)?.pipeline.generation ?? 0 }

  /// The maximum size of a body that is held in memory (`transport.spillBytes`).
  package final var heldBodyBytes: Int { (transaction?.pipeline.settings.transfer ?? TransferOptions()).spillBytes }

  /// The texts of the request that the plugin host lends to stages. [loop]
  package final var lentTexts: (any AnyObject & Sendable)?

  package final let loop: any EventLoop

  @inline(__always)
  init(
    loop: any EventLoop, id: TransactionID, request: consuming Request, started: Instant, deadline: Instant,
    parent: ParentContext, requestIDHeader: String
  ) {
    self.loop = loop
    self.id = id
    self.started = started
    self.deadline = deadline
    self.parent = parent
    client = request.client
    self.requestIDHeader = requestIDHeader
    requestForms = RequestForms(request)
  }

  /// The same in all attempts: the value of the request id header in the caller's request, otherwise the transaction's
  /// id.
  package final var requestID: String {
    if let knownRequestID, !knownRequestID.text.isEmpty { return knownRequestID.text }
    var known = readRequestID()
    if known.isGiven || !known.text.isEmpty { return known.text }
    known.text = id.description
    knownRequestID = known
    return known.text
  }

  /// The id in the request's header, or the fact that there is none. Kept from the first access on, because the request
  /// can change.
  private struct KnownRequestID {
    let isGiven: Bool
    /// Empty until somebody needs the transaction's id as text.
    var text: String
  }

  private final var knownRequestID: KnownRequestID?

  private final func readRequestID() -> KnownRequestID {
    if let knownRequestID { return knownRequestID }
    let given = requestForms.native.headers[requestIDHeader]
    let known = KnownRequestID(isGiven: given != nil, text: given ?? "")
    knownRequestID = known
    return known
  }

  /// Takes the id in the request's header. Call it only at the end of the transaction, because it moves the headers out
  /// of the request.
  final func takeGivenRequestID() -> GivenRequestID {
    if let known = knownRequestID { return .text(known.isGiven ? known.text : nil) }
    var headers = HeaderFields()
    swap(&headers, &requestForms.native.headers)
    return .unread(headers, named: requestIDHeader)
  }

  /// Calls the body with the bytes of ``requestID``, without making a string of the transaction's id. [loop]
  package final func withRequestID(_ body: (Span<UInt8>) -> Void) {
    let known = readRequestID()
    if known.isGiven { return body(known.text.utf8.span) }
    let text = id.text
    body(text.span)
  }

  /// Sets the id in a copy, whose request may have changed since the id was read.
  final func keepRequestID(_ id: String) { knownRequestID = KnownRequestID(isGiven: true, text: id) }

  /// 64 random bits, for ids. [loop]
  package final func randomBits() -> UInt64 { loop.random.next() }

  /// The status of the response, or 0 without a response; out of date while its document is current. Read in
  /// place, because reading the optional response would copy and retain all of it.
  package final var responseStatus: Int { Self.status(&responseForms.native) }

  /// Whether there is a response. The response is read in place, because reading the optional would copy and retain all
  /// of it.
  package final var hasResponse: Bool { Self.isThere(&responseForms.native) }

  final var isResponseBodyEmpty: Bool { Self.isBodyEmpty(&responseForms.native) }

  /// Whether a stage streams the body of the response, and no reader has taken the stream yet.
  final var hasStreamedResponse: Bool {
    guard let response = responseForms.native, case .stream = response.body else { return false }
    return true
  }

  final func setResponseBody(_ body: consuming Body) { responseForms.native?.body = consume body }

  /// Whether the request has trailers.
  final var hasRequestTrailers: Bool { Self.hasTrailers(&requestForms.native) }

  private static func hasTrailers(_ request: inout Request) -> Bool { request.hasTrailers }
  private static func status(_ response: inout Response?) -> Int { response?.status ?? 0 }
  private static func isThere(_ response: inout Response?) -> Bool { response != nil }
  private static func isBodyEmpty(_ response: inout Response?) -> Bool { response?.body.isEmpty ?? true }

  /// Takes the token with which the stage that is being called will be resumed; nil if it has already taken one, or if
  /// suspending is not allowed. [loop]
  package final func suspend() -> SuspensionToken? { transaction?.takeToken() }

  /// Requests that the stage is called with the whole response body of this attempt. [loop, from on_request]
  package final func wantResponseBody(_ interceptor: any Interceptor) {
    let asker = interceptor.identity
    if !responseBodyAskers.contains(asker) { responseBodyAskers.append(asker) }
  }

  /// Adds bytes that replace the piece of a suspended call. They are passed on when the call is resumed. Returns false
  /// if they would exceed `limit`, and nil if no call for a piece is suspended with this token. [loop]
  package final func writePiece(
    _ bytes: UnsafeBufferPointer<UInt8>, upTo limit: Int, by token: SuspensionToken
  ) -> Bool? {
    for passage in transaction?.openPassages ?? [] {
      if let isTaken = unsafe passage.write(bytes, upTo: limit, by: token) { return isTaken }
    }
    return nil
  }

  /// Whether a stage can add trailers to the request body: only while the body passes. [loop]
  package final var takesRequestTrailers: Bool { transaction?.requestPassage != nil }

  /// The table in which tokens of this exchange are resumed; nil after the transaction has ended. [loop]
  package final var suspensions: SuspensionTable? { transaction?.environment.suspensions }

  /// The connection of the current hop. Nil before the issue stages of the hop are called, and if such facts are not
  /// wanted (``TransferOptions/collectsConnection``). [loop]
  package final var connection: ConnectionFacts? {
    guard let transaction else { return detachedConnection }
    return transaction.transfer?.connection ?? transaction.endedConnection
  }

  /// The connection in a copy.
  final var detachedConnection: ConnectionFacts?
  final var detachedWantsSpans = false

  /// Nil until the first span begins.
  final var spans: SpanTable?
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
