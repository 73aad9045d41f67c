package import SluiceMessages

/// One line of output: the result of a request line.
///
///     {"id": …, "line": 1, "response": { response }, "error": {"code": "…", "message": "…", "stage": "…"},
///      "attempts": 1, "attributes": { … }, "metadata": { … }, "explain": [ … ], "durationMs": 1.93, "requestId": "…"}
///
/// `error` is present only if the request failed, and its `stage` only if a stage is to blame. `response` is present if
/// there was one, `line` if the request came from a line, `attributes` if stages have set any, `metadata` and `explain` only if they were requested.
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
  /// Its body must be in memory, because a file is removed with the result.
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

  /// The document on one line, with its line feed. Written straight into bytes: a tree of values would cost more than all
  /// else that a short result takes.
  package func line() throws(JSONError) -> [UInt8] {
    var line = JSONBytes(capacity: Self.usualBytes + (response?.approximateBytes ?? 0))
    line.write("{\"id\":")
    line.append(id.text)
    if let lineNumber {
      line.write(",\"line\":")
      line.append(lineNumber)
    }
    if let response {
      line.write(",\"response\":")
      try line.append(response)
    }
    if let failure { append(failure, to: &line) }
    line.write(",\"attempts\":")
    line.append(attempts)
    try append(",\"attributes\":", attributes, to: &line)
    try append(",\"metadata\":", metadata, to: &line)
    try append(",\"explain\":", explanation, to: &line)
    line.write(",\"durationMs\":")
    line.append(milliseconds: duration)
    if let requestID {
      line.write(",\"requestId\":")
      line.append(quoting: requestID)
    }
    line.write("}\n")
    return line.bytes
  }

  /// Enough for a line without its response.
  private static let usualBytes = 256

  private func append(_ failure: Failure, to line: inout JSONBytes) {
    line.write(",\"error\":{\"code\":")
    line.append(quoting: failure.code)
    line.write(",\"message\":")
    line.append(quoting: failure.message)
    if let stage = failure.stage {
      line.write(",\"stage\":")
      line.append(quoting: stage)
    }
    line.write("}")
  }

  private func append(_ key: StaticString, _ value: JSONValue?, to line: inout JSONBytes) throws(JSONError) {
    guard let value else { return }
    line.write(key)
    try line.append(value)
  }
}

extension Response {
  /// About what it takes in a line, if few characters need an escape.
  fileprivate var approximateBytes: Int {
    let bodyBytes = if case .bytes(let bytes) = body { bytes.count } else { 0 }
    return headers.buffer.count + headers.count * 4 + bodyBytes + bodyBytes / 4
  }
}
