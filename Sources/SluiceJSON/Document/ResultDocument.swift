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
  package var id: JSONValue
  /// The number of the request line; nil for a request that came from elsewhere.
  package var lineNumber: Int?
  /// A ``ResponseDocument``.
  package var response: JSONValue?
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
    id: JSONValue, lineNumber: Int? = nil, response: JSONValue? = nil, failure: Failure? = nil, attempts: Int,
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
  ///
  /// jansson spells 1.93 with 17 digits, so the duration is written here.
  package func line() throws(JSONError) -> [UInt8] {
    var line = try head.serialized()
    line.removeLast()
    line += ",\"durationMs\":\(duration.roundedMilliseconds)".utf8
    if let requestID {
      line += ",\"requestId\":".utf8
      line += try JSONValue(requestID).serialized()
    }
    line += "}\n".utf8
    return line
  }

  private var head: JSONValue {
    let document = JSONValue.object()
    document["id"] = id
    document["line"] = lineNumber.map { JSONValue(Int64($0)) }
    document["response"] = response
    document["error"] = failure?.document()
    document["attempts"] = JSONValue(Int64(attempts))
    document["attributes"] = attributes
    document["metadata"] = metadata
    document["explain"] = explanation
    return document
  }
}
