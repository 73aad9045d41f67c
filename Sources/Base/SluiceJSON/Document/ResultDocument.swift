package import SluiceMessages

/// One line of output: the result of a request line.
///
///     {"id": …, "line": 1, "response": { response }, "error": {"code": "…", "message": "…", "stage": "…"},
///      "attempts": 1, "attributes": { … }, "metadata": { … }, "explain": [ … ], "durationMs": 1.93, "requestId": "…"}
///
/// `error` is present only if the request failed, and its `stage` only if a stage is to blame. `response` is present if
/// there was one, `line` if the request came from a line, `attributes` if stages have set any, `metadata` and `explain`
/// only if they were requested.
package struct ResultDocument {
  /// Why a request failed.
  package struct Failure: Sendable, Hashable {
    package var code: String
    package var message: String
    package var stage: String?

    package init(code: String, message: String, stage: String? = nil) {
      self.code = code
      self.message = message
      self.stage = stage
    }

    package func document() -> JSONValue {
      let document: JSONValue = ["code": JSONValue(code), "message": JSONValue(message)]
      document["stage"] = stage.map { JSONValue($0) }
      return document
    }
  }

  /// The `id` of the request line, or its number.
  package var id: ResultID
  /// The number of the request line; nil for a request that came from elsewhere.
  package var lineNumber: Int?
  /// The body must be in memory: a body in a file is removed together with the result.
  package var response: Response?
  package var failure: Failure?
  /// The number of attempts; 0 for a line that was not a request.
  package var attempts: Int
  package var duration: Duration
  package var requestID: String?
  /// The attributes that stages have set, with secrets redacted.
  package var attributes: JSONValue?
  /// Further information, if requested.
  package var metadata: JSONValue?
  /// The explanation of each hop's headers, if requested.
  package var explanation: JSONValue?

  package init(
    id: ResultID, lineNumber: Int? = nil, response: Response? = nil, failure: Failure? = nil, attempts: Int,
    duration: Duration,
    requestID: String? = nil, attributes: JSONValue? = nil,
    metadata: JSONValue? = nil, explanation: JSONValue? = nil
  ) {
    self.id = id
    self.lineNumber = lineNumber
    self.response = response
    self.failure = failure
    self.attempts = attempts
    self.duration = duration
    self.requestID = requestID
    self.attributes = attributes
    self.metadata = metadata
    self.explanation = explanation
  }

  /// The document on one line, with its line feed.
  package func line() throws(JSONError) -> [UInt8] {
    var line = JSONText(capacity: Self.usualBytes + (response?.approximateBytes ?? 0))
    try line.append(
      resultOf: id, line: lineNumber, response: response, failure: failure, attempts: attempts, duration: duration,
      requestID: requestID.map { .given($0) }, attributes: attributes, metadata: metadata, explanation: explanation)
    return line.bytes
  }

  /// The usual size of a line without its response.
  private static let usualBytes = 256
}

extension JSONText {
  /// The member `requestId` of a result.
  package enum RequestID {
    /// The UUID of the transaction.
    case transaction(TransactionID)
    case given(String)
  }

  /// A ``ResultDocument`` on one line, with its line feed. It is written directly into bytes: for a short result, a
  /// tree of values or a copy of the response would cost more than all other steps. If this fails, a part of the line
  /// has been written.
  /// - Parameter parsesJSON: whether a body that is JSON is written as JSON, and not as text.
  package mutating func append(
    resultOf id: ResultID, line: Int?, response: Response?, parsesJSON: Bool = false, failure: ResultDocument.Failure?,
    attempts: Int,
    duration: Duration, requestID: RequestID?, attributes: JSONValue?, metadata: JSONValue?, explanation: JSONValue?
  ) throws(JSONError) {
    write("{\"id\":")
    append(id.text)
    if let line {
      write(",\"line\":")
      append(line)
    }
    if let response {
      write(",\"response\":")
      try append(response, parsesJSON: parsesJSON)
    }
    if let failure {
      object("error") { error in
        error.text("code", failure.code)
        error.text("message", failure.message)
        if let stage = failure.stage { error.text("stage", stage) }
      }
    }
    write(",\"attempts\":")
    append(attempts)
    try append(",\"attributes\":", attributes)
    try append(",\"metadata\":", metadata)
    try append(",\"explain\":", explanation)
    write(",\"durationMs\":")
    append(milliseconds: duration)
    if let requestID {
      write(",\"requestId\":")
      switch requestID {
      case .transaction(let id): append(quoting: id)
      case .given(let text): append(quoting: text)
      }
    }
    write("}\n")
  }

  private mutating func append(_ key: StaticString, _ value: JSONValue?) throws(JSONError) {
    guard let value else { return }
    write(key)
    try append(value)
  }
}

extension Response {
  /// The approximate number of bytes that the response takes in a line, if few of its characters need an escape.
  fileprivate var approximateBytes: Int {
    let bodyBytes = if case .bytes(let bytes) = body { bytes.count } else { 0 }
    return headers.lineByteCount + headers.count * 4 + bodyBytes + bodyBytes / 4
  }
}
