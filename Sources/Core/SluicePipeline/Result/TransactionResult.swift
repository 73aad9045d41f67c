public import SluiceMessages

/// The result of a transaction. A transaction has exactly one.
///
/// The value is a single reference to a record. The transaction fills in the record while it runs, and releases the
/// record with the completion.
public struct TransactionResult: Sendable {
  private var record: ResultRecord

  init(_ record: ResultRecord) { self.record = record }

  /// The result of a transaction that was refused before it began.
  package init(refused id: TransactionID, _ request: Request, _ error: TransactionError) {
    record = ResultRecord(id: id, request)
    record.error = error
  }

  /// The result of a transaction whose loop is in a stage that does not return. Reads only parts of the record that are
  /// written at the beginning of the transaction.
  init(stalled original: ResultRecord, requestIDHeader: String, _ error: TransactionError, after duration: Duration) {
    record = ResultRecord(id: original.id, original.originalRequest)
    record.givenID = .unread(original.originalRequest.headers, named: requestIDHeader)
    record.snapshot = original.snapshot
    record.attempts = 1
    record.duration = duration
    record.error = error
  }

  /// The UUID of the transaction; the same in all attempts.
  public var id: TransactionID { record.id }
  /// The value of the header that `requestId.header` names in the configuration; the UUID as text if the request has no
  /// such header.
  public var requestID: String { record.givenID.text ?? record.id.description }

  /// The ``requestID`` if it came from a header; nil if it is the UUID.
  package var givenRequestID: String? { record.givenID.text }

  /// The response, if there is one, even with an error.
  public var response: Response? {
    get { record.response }
    set {
      record = ResultRecord(copying: record)
      record.response = newValue
    }
  }

  /// Nil if the transaction succeeded.
  public var error: TransactionError? {
    get { record.error }
    set {
      record = ResultRecord(copying: record)
      record.error = newValue
    }
  }

  /// The number of attempts; 0 if the transaction was refused before it began.
  public var attempts: Int { record.attempts }

  /// The number of the snapshot that the transaction ran on, counted by the engine from 1; 0 if it never began.
  public var snapshot: Int { record.snapshot }

  /// The time from submission to the end.
  public var duration: Duration { record.duration }

  /// The timings of the last hop, up to its end; nil without a hop.
  public var timings: TransferTimings? { record.timings }

  /// The request as the caller gave it.
  public var originalRequest: Request { record.originalRequest }

  /// The request as the last hop sent it, changed by stages and redirects; nil if nothing was sent.
  public var issuedRequest: Request? { record.issuedRequest }

  /// The attributes that stages have set on the transaction. Secrets among them are marked, but not redacted.
  public var attributes: AttributeList { record.attributes }

  /// For each issued hop, why each header was sent or not; nil unless the request wanted an explanation.
  public var explanation: [HopExplanation]? { record.explanation }

  /// What each call of a stage did, in order; nil unless the request wanted a journal.
  public var journal: [StageCall]? { record.notes?.calls }

  /// The request with the answers from the wire; nil unless the request wanted a recording.
  public var recording: RecordedExchange? { record.notes?.exchange }

  /// Removes a recording that the caller did not ask for.
  package mutating func removeRecording() {
    var request = record.originalRequest
    (request.wantsRecording, request.isSample) = (false, false)
    record = ResultRecord(copying: record, request)
    record.notes = record.notes?.calls.map { ResultNotes($0, nil) }
  }

  /// How the transaction ended. The outcome is *cancelled* if ``error`` has the code `cancelled` and names no stage.
  public var outcome: TransactionOutcome { TransactionOutcome(error) }
}

/// The content of a result, stored in one place from the beginning of the transaction, so that nothing is copied at its
/// end.
///
/// Unchecked: until the completion is called, only the loop writes the record. If a result is changed later, it gets a
/// record of its own.
final class ResultRecord: @unchecked Sendable {
  let id: TransactionID
  let originalRequest: Request
  var givenID = GivenRequestID.text(nil)
  var response: Response?
  var error: TransactionError?
  var attempts = 0
  var snapshot = 0
  var duration = Duration.zero
  var timings: TransferTimings?
  /// The headers that the last hop has sent.
  var issuedHeaders: HeaderFields?
  /// The method, URL, body and trailers that the last hop has sent; nil if they are those of the original request.
  var changedRequest: Request?
  var attributes = AttributeList()
  var explanation: [HopExplanation]?
  /// The journal and the recording, stored behind one reference, because few results have either.
  var notes: ResultNotes?

  init(id: TransactionID, _ request: consuming Request) {
    self.id = id
    originalRequest = consume request
  }

  init(copying other: ResultRecord, _ request: Request? = nil) {
    id = other.id
    originalRequest = request ?? other.originalRequest
    givenID = other.givenID
    response = other.response
    error = other.error
    attempts = other.attempts
    snapshot = other.snapshot
    duration = other.duration
    timings = other.timings
    issuedHeaders = other.issuedHeaders
    changedRequest = other.changedRequest
    attributes = other.attributes
    explanation = other.explanation
    notes = other.notes
  }
}

extension ResultRecord {
  /// Notes which request a hop sends, except its headers. Reads the request in place, because passing the request would
  /// copy it.
  @inline(__always)
  func noteSent(_ request: inout Request) {
    if !request.isSent(like: originalRequest) {
      changedRequest = request
    } else if changedRequest != nil {
      changedRequest = nil
    }
  }

  /// This function is defined here because it can read the request in place; outside, the request would be copied.
  func validateRequest() throws(MessageError) { try originalRequest.validate() }

  // Computed on access, because few callers need it.
  /// Nil if nothing was sent.
  var issuedRequest: Request? {
    guard let issuedHeaders else { return nil }
    let sent = changedRequest ?? originalRequest
    var request = Request(
      method: sent.method, url: sent.url, headers: issuedHeaders, body: sent.body, timeout: originalRequest.timeout)
    request.sharedTrailers = sent.sharedTrailers
    return request
  }
}

/// The request id in the header of a request.
enum GivenRequestID: Sendable {
  /// Nil if no header gives an id, so that the transaction's own id counts.
  case text(String?)
  /// The headers, which nobody has yet searched for the named field.
  case unread(HeaderFields, named: String)

  var text: String? {
    switch self {
    case .text(let text): text
    case .unread(let headers, let name): headers[name]
    }
  }
}

extension Request {
  /// Whether method, URL and body are those of the other request. Also false if there is a body, because comparing
  /// bodies would take longer.
  @inline(__always)
  func isSent(like other: borrowing Request) -> Bool {
    guard case .empty = body, case .empty = other.body else { return false }
    return url == other.url && method == other.method && !hasTrailers
  }
}

extension TransactionOutcome {
  init(_ error: TransactionError?) {
    guard let error else {
      self = .succeeded
      return
    }
    self = error.code == .cancelled && error.stage == nil ? .cancelled : .failed
  }

  var outcomeClass: OutcomeClass {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }
}
