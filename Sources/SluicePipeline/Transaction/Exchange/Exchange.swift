package import SluiceMessages
package import SluiceTraceContext

/// One attempt as the stages see it: request, response when there is one, and the facts of its transaction.
///
/// Unchecked because it is confined: it is touched on the loop of its transaction only, which the transaction upholds by
/// calling stages there and nowhere else.
package final class Exchange: @unchecked Sendable {
  /// The part of a transaction's way in which the stages are called now.
  package enum Phase: Sendable, Hashable {
    case request, issue, redirect, challenge, response, failure, trace
  }

  package let id: TransactionID
  package internal(set) var phase = Phase.request
  /// 0 first, then one more for each retry.
  package internal(set) var attempt = 0
  /// Within the attempt, 0 first.
  package internal(set) var hop = 0
  package let started: Instant
  package internal(set) var deadline: Instant
  /// A stage has set the deadline.
  var isDeadlineOwn = false
  /// What stages have lowered; nil for nothing.
  package internal(set) var limits: ExchangeLimits?
  package let parent: ParentContext
  let requestIDHeader: String

  /// The request of this attempt; while a document is the truth, not up to date (see ``requestDocument``).
  package var nativeRequest: Request
  /// The response, once there is one; while a document is the truth, not up to date.
  package var nativeResponse: Response?
  /// The document forms that stages asked for in this phase.
  package var requestDocument: DocumentForm?
  package var responseDocument: DocumentForm?
  /// The headers of the hop, while it is issued.
  package var issueHeaders: HeaderFields?
  /// The headers of the hop once it has been issued; nil before.
  package internal(set) var issued: IssuedFields?
  /// What became of the headers of each hop so far; nil where nobody wants to know.
  package internal(set) var explanation: [HopExplanation]?

  /// The stages that asked in this attempt for the whole response body.
  var responseBodyAskers: [ObjectIdentifier] = []

  /// A stage has put a body, if only an empty one, in place of the wire's: what is still to come of that, trailers
  /// included, is thrown away. Until the next head.
  package var hasOwnResponseBody = false

  /// Gives the response that a stage has set a body that comes piece by piece. [loop]
  package func streamResponseBody(_ stream: BodyStream) {
    nativeResponse?.body = .stream(stream)
    hasOwnResponseBody = true
    transaction?.machine.streamsOwnBody = true
  }

  /// What stages have set; over all attempts.
  package var attributes = AttributeList()

  /// The place that is called now, if what is called there wants to know it.
  package var place: (any AnyObject & Sendable)?

  /// What instances keep for this transaction; released when it ends.
  package var attachments = Attachments()

  /// Who calls the stages; let go when the transaction ends.
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

  /// The same over all attempts: what the caller's request carries in the request id header, else the transaction's id.
  package var requestID: String {
    makeRequestID()
    return madeRequestID ?? ""
  }

  private var madeRequestID: String?

  /// Calls with the bytes of ``requestID`` where it is kept: a copy would count a reference. [loop]
  package func withRequestID(_ body: (Span<UInt8>) -> Void) {
    makeRequestID()
    Self.lend(&madeRequestID, body)
  }

  /// For a copy, whose request may have been changed since the id was asked for.
  func keepRequestID(_ id: String) { madeRequestID = id }

  private func makeRequestID() {
    if madeRequestID == nil { madeRequestID = nativeRequest.headers[requestIDHeader] ?? id.description }
  }

  /// A function of its own, which no other access to the id can reach into.
  @inline(never)
  private static func lend(_ id: inout String?, _ body: (Span<UInt8>) -> Void) {
    if let id { body(id.utf8.span) }
  }

  /// 64 random bits, for ids. [loop]
  package func randomBits() -> UInt64 { loop.random.next() }

  /// The status of the response, 0 without one; while a document is the truth, not up to date. Reached in place: reading
  /// the optional response would copy and retain all of it.
  package var responseStatus: Int { Self.status(&nativeResponse) }

  /// Whether there is a response, asked in place for the same reason.
  package var hasResponse: Bool { Self.isThere(&nativeResponse) }

  var isResponseBodyEmpty: Bool { Self.isBodyEmpty(&nativeResponse) }

  /// Whether a stage gives the body of the response piece by piece, and nobody has taken it yet.
  var hasStreamedResponse: Bool {
    guard let response = nativeResponse, case .stream = response.body else { return false }
    return true
  }

  func setResponseBody(_ body: consuming Body) { nativeResponse?.body = consume body }

  private static func status(_ response: inout Response?) -> Int { response?.status ?? 0 }
  private static func isThere(_ response: inout Response?) -> Bool { response != nil }
  private static func isBodyEmpty(_ response: inout Response?) -> Bool { response?.body.isEmpty ?? true }

  /// Takes the token with which the stage that is being called will be resumed; nil when it has taken one already, or where
  /// suspending is not allowed. [loop]
  package func suspend() -> SuspensionToken? { transaction?.takeToken() }

  /// Asks that the stage be called with the whole response body of this attempt. [loop, from on_request]
  package func wantResponseBody(_ interceptor: any Interceptor) {
    let asker = interceptor.identity
    if !responseBodyAskers.contains(asker) { responseBodyAskers.append(asker) }
  }

  /// Adds bytes that replace the piece of a suspended call; they are sent on when the call is resumed. Returns false
  /// when they would exceed `limit`, nil when the token suspends no such call. [loop]
  package func writePiece(_ bytes: UnsafeBufferPointer<UInt8>, upTo limit: Int, by token: SuspensionToken) -> Bool? {
    for passage in transaction?.openPassages ?? [] {
      if let isTaken = unsafe passage.write(bytes, upTo: limit, by: token) { return isTaken }
    }
    return nil
  }

  /// Where tokens of this exchange are resumed; nil once the transaction has ended. [loop]
  package var suspensions: SuspensionTable? { transaction?.environment.suspensions }

  /// The connection of the current hop, from its issue stages on; nil before, and unless such facts are wanted
  /// (``ConnectionFacts/areWanted``). [loop]
  package var connection: ConnectionFacts? {
    guard let transaction else { return detachedConnection }
    return transaction.transfer?.connection ?? transaction.endedConnection
  }

  /// Of a copy.
  var detachedConnection: ConnectionFacts?
  var detachedWantsSpans = false

  /// Nil before the first span.
  var spans: SpanTable?

  /// Who is called now; nil between calls.
  package var currentStageName: String? { transaction?.currentStageName }
}

/// What instances keep for one transaction, by the identity of the instance. Few enough to search through.
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
