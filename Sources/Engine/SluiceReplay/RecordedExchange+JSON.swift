import SluiceAssembly
package import SluiceJSON
package import SluiceMessages
package import SluicePipeline
import SluiceTraceContext

/// The document of a recorded exchange:
///
///     {"timeNs": …, "request": { request }, "timeoutNs": …, "streamed": true, "incomplete": true, "gap": "…",
///      "sensitive": ["x-token"], "parent": {"traceparent": "…", "tracestate": "…", "baggage": "…"},
///      "hops": [{"issued": true, "response": { response }, "version": "1.1", "incomplete": true, "gap": "…",
///                "error": {"code": "…", "message": "…", "beforeSending": true}}],
///      "callOuts": [{"method": "POST", "url": "…", "response": { response },
///                    "error": {"code": "…", "message": "…", "beforeSending": true}}],
///      "outcome": {"status": 200, "error": "…", "stage": "…"}}
///
/// Members that are false or absent are omitted.
extension RecordedExchange {
  /// How secrets and content are written.
  package struct Form: Sendable {
    /// The values that are hidden; nil writes secrets unchanged.
    package var secrets: Redactor?
    /// The maximum size of a body. A larger body is omitted, and its hop is marked as incomplete. Nil writes all
    /// bodies; a body in a file is then written as the file's path.
    package var maximumBodyBytes: Int?

    package init(secrets: Redactor?, maximumBodyBytes: Int? = 1 << 20) {
      self.secrets = secrets
      self.maximumBodyBytes = maximumBodyBytes
    }

    /// The complete form, for a child process.
    package static let complete = Form(secrets: nil, maximumBodyBytes: nil)
  }

  package func document(_ form: Form) -> JSONValue {
    let (request, lost) = form.shown(request)
    let document: JSONValue = [
      "timeNs": JSONValue(Int64(clamping: time.nanoseconds)),
      "request": RequestDocument.make(request, body: .plain),
    ]
    document["timeoutNs"] = request.timeout.map { JSONValue(Int64(clamping: $0.nanoseconds)) }
    if isRequestStreamed { document["streamed"] = true }
    if !isRequestWhole || lost != nil { document["incomplete"] = true }
    document["gap"] = (lost ?? requestGap).map { JSONValue($0) }
    let sensitive = request.headers.sensitiveNames + request.trailers.sensitiveNames
    if !sensitive.isEmpty { document["sensitive"] = .array(of: sensitive.map { JSONValue($0) }) }
    let parent = JSONValue.object()
    parent["traceparent"] = self.parent.traceparent.map { JSONValue($0) }
    parent["tracestate"] = self.parent.tracestate.map { JSONValue($0) }
    parent["baggage"] = self.parent.baggage.map { JSONValue($0) }
    if parent.count > 0 { document["parent"] = parent }
    document["hops"] = .array(of: hops.map { $0.document(form) })
    if !callOuts.isEmpty { document["callOuts"] = .array(of: callOuts.map { $0.document(form) }) }
    document["outcome"] = outcome?.document
    return document
  }

  /// - Parameter allowsFiles: whether bodies may be in files. Allow this only for documents that this program has
  ///   written.
  /// - Throws: an error that names the mistake and its place.
  package init(_ document: JSONValue, allowsFiles: Bool = false) throws(MessageError) {
    let rules: DocumentRules = allowsFiles ? .line : [.knownKeysOnly, .namesInAnyCase]
    guard let message = document["request"], let hops = document["hops"], hops.isArray else {
      throw MessageError(.invalidDocument, "recording", "expected an object with \"request\" and \"hops\"")
    }
    var request = try RequestDocument.read(message, rules: rules)
    request.timeout = document["timeoutNs"]?.integer.map { .nanoseconds(max(0, $0)) }
    for name in document["sensitive"]?.elements.compactMap(\.string) ?? [] {
      request.headers.markAll(named: name, .sensitive)
      request.trailers.markAll(named: name, .sensitive)
    }
    self.init(request)
    isRequestStreamed = document["streamed"]?.bool ?? false
    isRequestWhole = document["incomplete"]?.bool != true
    requestGap = document["gap"]?.string
    time = .nanoseconds(max(0, document["timeNs"]?.integer ?? 0))
    parent.traceparent = document["parent"]?["traceparent"]?.string
    parent.tracestate = document["parent"]?["tracestate"]?.string
    parent.baggage = document["parent"]?["baggage"]?.string
    for hop in hops.elements { self.hops.append(try RecordedHop(hop, rules)) }
    for call in document["callOuts"]?.elements.map({ $0 }) ?? [] { callOuts.append(try RecordedCallOut(call, rules)) }
    outcome = document["outcome"].map { RecordedOutcome($0) }
  }
}

extension RecordedHop {
  fileprivate func document(_ form: RecordedExchange.Form) -> JSONValue {
    let document: JSONValue = ["issued": JSONValue(wasIssued)]
    var gap = bodyGap
    var isWhole = isBodyWhole
    if let response {
      let (response, lost) = form.shown(response)
      isWhole = isWhole && lost == nil
      gap = lost ?? gap
      document["response"] = ResponseDocument.make(response, body: .plain)
      document["version"] = response.version.map { JSONValue($0.rawValue) }
    }
    if !isWhole { document["incomplete"] = true }
    document["gap"] = gap.map { JSONValue($0) }
    document["error"] = error?.document
    return document
  }

  fileprivate init(_ document: JSONValue, _ rules: DocumentRules) throws(MessageError) {
    guard document.isObject else {
      throw MessageError(.invalidDocument, "recording", "expected an object for each of the \"hops\"")
    }
    self.init(
      wasIssued: document["issued"]?.bool ?? true, isBodyWhole: document["incomplete"]?.bool != true,
      error: document["error"].map { TransportError($0) })
    bodyGap = document["gap"]?.string
    guard let message = document["response"] else { return }
    response = try ResponseDocument.read(message, rules: rules)
    response?.version = document["version"]?.string.flatMap { HTTPVersion(rawValue: $0) }
  }
}

extension TransportError {
  fileprivate var document: JSONValue {
    [
      "code": JSONValue(code.rawValue), "message": JSONValue(message), "beforeSending": JSONValue(isBeforeSending),
    ]
  }

  fileprivate init(_ document: JSONValue) {
    self.init(
      ErrorCode(rawValue: document["code"]?.string ?? "transport"), document["message"]?.string ?? "",
      isBeforeSending: document["beforeSending"]?.bool ?? false)
  }
}

extension RecordedOutcome {
  fileprivate var document: JSONValue {
    let document = JSONValue.object()
    document["status"] = status.map { JSONValue(Int64($0)) }
    document["error"] = error.map { JSONValue($0.rawValue) }
    document["stage"] = stage.map { JSONValue($0) }
    return document
  }

  fileprivate init(_ document: JSONValue) {
    self.init(
      status: document["status"]?.integer.map { Int(clamping: $0) },
      error: document["error"]?.string.map { ErrorCode(rawValue: $0) }, stage: document["stage"]?.string)
  }
}

extension RecordedCallOut {
  func document(_ form: RecordedExchange.Form) -> JSONValue {
    let url = form.secrets?.url(url.string) ?? url.string
    let document: JSONValue = ["method": JSONValue(method), "url": JSONValue(url)]
    if let response {
      var (shown, lost) = form.shown(response)
      if let secrets = form.secrets { shown.body = secrets.body(shown.body) }
      document["response"] = lost == nil ? ResponseDocument.make(shown, body: .plain) : nil
      if let lost { document["error"] = TransportError("not_recorded", lost).document }
    }
    if let error { document["error"] = error.document }
    return document
  }

  init(_ document: JSONValue, _ rules: DocumentRules) throws(MessageError) {
    guard let method = document["method"]?.string, let url = document["url"]?.string else {
      throw MessageError(
        .invalidDocument, "recording", "expected \"method\" and \"url\" in each of the \"callOuts\"")
    }
    self.init(method: method, url: try HTTPURL(url), error: document["error"].map { TransportError($0) })
    if let message = document["response"] { response = try ResponseDocument.read(message, rules: rules) }
  }
}

extension Redactor {
  /// A body in which the secret members of a JSON document are hidden, such as the token of a token endpoint.
  fileprivate func body(_ body: Body) -> Body {
    guard let bytes = body.bytes, let document = try? JSONValue(parsing: bytes) else { return body }
    return (try? document.hiding(self).serialized()).map { .bytes($0) } ?? body
  }
}

extension JSONValue {
  fileprivate func hiding(_ secrets: Redactor) -> JSONValue {
    if isArray { return .array(of: elements.map { $0.hiding(secrets) }) }
    guard isObject else { return self }
    let shown = JSONValue.object()
    for (key, value) in members {
      let isSecret = secrets.isSecret(parameter: key) && !value.isObject && !value.isArray
      shown[key] = isSecret ? JSONValue(Redactor.placeholder) : value.hiding(secrets)
    }
    return shown
  }
}

extension RecordedExchange.Form {
  /// Returns the message as it is written, and why its body is left out; nil if it is not.
  fileprivate func shown(_ request: Request) -> (Request, String?) {
    var shown = request
    if let secrets {
      shown.headers = hidden(request.headers, secrets)
      if request.hasTrailers { shown.trailers = hidden(request.trailers, secrets) }
      if let url = try? HTTPURL(secrets.url(request.url.string)) { shown.url = url }
    }
    let lost = limit(&shown.body)
    return (shown, lost)
  }

  fileprivate func shown(_ response: Response) -> (Response, String?) {
    var shown = response
    if let secrets {
      shown.headers = hidden(response.headers, secrets)
      shown.trailers = hidden(response.trailers, secrets)
    }
    let lost = limit(&shown.body)
    return (shown, lost)
  }

  private func hidden(_ fields: HeaderFields, _ secrets: Redactor) -> HeaderFields {
    var shown = HeaderFields()
    for index in fields.indices {
      let (name, value) = (fields.name(at: index), fields.value(at: index))
      let isSecret = fields.marks(at: index).contains(.sensitive)
      let safe = isSecret ? Redactor.placeholder : secrets.value(value, ofHeader: name)
      guard safe == value else {
        shown.append(name, safe, marks: fields.marks(at: index))
        continue
      }
      // The value is copied as bytes, because it need not be UTF-8.
      shown.append(
        name.utf8.span, fields.buffer.span.extracting(fields.valueRange(at: index)), marks: fields.marks(at: index))
    }
    return shown
  }

  /// Replaces a body in a file by its bytes, because the file is removed when its last user releases it. If the body is
  /// too large, or its file cannot be read, makes it empty and returns the reason.
  private func limit(_ body: inout Body) -> String? {
    guard let maximumBodyBytes else { return nil }
    let byteCount = body.byteCount
    if case .file(let file) = body, file.byteCount <= maximumBodyBytes,
      let bytes = try? FileText.read(file.path, limitBytes: maximumBodyBytes)
    {
      body = .bytes(bytes)
    }
    guard let bytes = body.bytes, bytes.count <= maximumBodyBytes else {
      body = .empty
      guard let byteCount, byteCount > maximumBodyBytes else { return "the file of the body could not be read" }
      return "the body has \(byteCount) bytes; a file of recordings has bodies of at most \(maximumBodyBytes) bytes"
    }
    return nil
  }
}

extension HeaderFields {
  fileprivate var sensitiveNames: [String] { indices.filter { marks(at: $0).contains(.sensitive) }.map(name(at:)) }

  fileprivate mutating func markAll(named name: String, _ marks: Marks) {
    for index in indices where self.name(at: index).lowercased() == name.lowercased() { mark(at: index, marks) }
  }
}
