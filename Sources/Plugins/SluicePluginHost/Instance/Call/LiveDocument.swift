import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The document of one message that plugins read and change in place, until the host reads it back into the native
/// form.
final class LiveDocument: MessageDocument {
  let json: JSONValue
  /// Whether the host has put the body into the document. If it has not, a missing member means that the body is
  /// unchanged.
  var isBodyFilled = false
  /// The text from which the document's `json` body was parsed. It is sent if no stage has changed the value.
  var parsedBody: [UInt8]?
  /// The parts of the message that the host lets no stage change: method and URL, or the body.
  var isLineFixed = false
  var isBodyFixed = false
  /// Names that were marked as secret; a document cannot express this.
  private var sensitiveNames: [[UInt8]] = []
  /// The plugin that got the document last. If the document is invalid, this is a violation by this plugin.
  private var writer: HostHandle?
  /// The name of the call that may have changed the document; nil if all changes have been checked.
  private var writingCall: UInt?
  private(set) var failure: MessageError?
  /// Whether the plugin was warned of fields that do not describe the new body.
  private var hasWarned = false

  init(_ json: JSONValue) { self.json = json }

  func markSensitive(_ name: UnsafeBufferPointer<UInt8>) { sensitiveNames.append(Array(name)) }

  /// Records which plugin and which call can change the document from now on.
  func wasLent(to hostHandle: HostHandle, in call: UInt) {
    writer = hostHandle
    writingCall = call
  }

  /// Whether the document can be lent to a call.
  ///
  /// If an earlier call can have changed the document, this function first checks how deep the document is nested. A
  /// plugin that copies or serializes a value with too many levels would overflow its stack.
  func isLendable(to call: UInt) -> Bool {
    if failure != nil { return false }
    guard let writingCall, writingCall != call else { return true }
    self.writingCall = nil
    do {
      // The content of the body may use the whole limit, and it begins two levels below the top of the document.
      try json.checkNesting(depth: JSONValue.depthLimit + 2)
      return true
    } catch {
      _ = reported(MessageError(.invalidDocument, "document", error.message))
      return false
    }
  }

  func request(from original: Request) throws(MessageError) -> Request {
    if let failure { throw failure }
    var request = original
    do throws(MessageError) {
      try checkFixedBody()
      try RequestDocument.update(
        &request, from: json, bodyWasFilled: isBodyFilled, parsedBody: parsedBody, hosts: .idna)
      try checkFixedLine(request.method, request.url, original)
      try Self.checkFields(request.headers, against: original.headers)
    } catch { throw reported(error) }
    applyMarks(to: &request.headers)
    if !request.body.isSame(as: original.body) {
      var trailers = request.trailers
      follow(request.body, &request.headers, &trailers, original.headers, original.trailers, isResponse: false)
      if request.hasTrailers { request.trailers = trailers }
    }
    return request
  }

  func response(from original: Response) throws(MessageError) -> Response {
    if let failure { throw failure }
    var response = original
    do throws(MessageError) {
      try checkFixedBody()
      try ResponseDocument.update(
        &response, from: json, bodyWasFilled: isBodyFilled, parsedBody: parsedBody, added: [])
      try Self.checkFields(response.headers, against: original.headers)
      try Self.checkFields(response.trailers, against: original.trailers, "trailers")
      try Self.checkTrailers(response.trailers, against: original.trailers)
    } catch { throw reported(error) }
    applyMarks(to: &response.headers)
    if !response.body.isSame(as: original.body) {
      var trailers = response.trailers
      follow(response.body, &response.headers, &trailers, original.headers, original.trailers, isResponse: true)
      if !response.trailers.isEmpty { response.trailers = trailers }
    }
    return response
  }

  /// Applies the rule of `body_set` to the fields that the plugin has left as they were.
  private func follow(
    _ body: Body, _ headers: inout HeaderFields, _ trailers: inout HeaderFields, _ old: HeaderFields,
    _ oldTrailers: HeaderFields, isResponse: Bool
  ) {
    func values(_ name: String, _ fields: HeaderFields, _ old: HeaderFields) -> [String] {
      let values = fields[values: name]
      return DerivedFields.contain(name) && values != old[values: name] ? [] : values
    }
    let fields = DerivedFields(isResponse: isResponse) { [headers] in
      values($0, headers, old)
    } trailers: { [trailers] in
      values($0, trailers, oldTrailers)
    }
    for name in fields.removed { headers.remove(name) }
    for name in fields.removedTrailers { trailers.remove(name) }
    if let left = fields.announcement { headers["trailer"] = left.isEmpty ? nil : left }
    if headers.contains("content-length"), headers[values: "content-length"] == old[values: "content-length"] {
      headers["content-length"] = body.byteCount.map { String($0) }
    }
    guard !hasWarned, fields.warning != nil else { return }
    hasWarned = true
    writer?.warn(about: fields)
  }

  func target(from original: Request) throws(MessageError) -> RequestTarget {
    if let failure { throw failure }
    do throws(MessageError) {
      let (method, url) = try RequestDocument.target(of: json, from: original, hosts: .idna)
      try checkFixedLine(method, url, original)
      return RequestTarget(method: method, url: url)
    } catch { throw reported(error) }
  }

  /// The limits and the rule for hop-by-hop fields apply to documents too; fields that existed before may stay.
  private static func checkFields(
    _ fields: HeaderFields, against original: HeaderFields, _ words: String = "header fields"
  ) throws(MessageError) {
    if fields.count > original.count || fields.wireByteCount > original.wireByteCount {
      try fields.validateSize(of: words)
    }
    for index in fields.indices {
      let name = fields.buffer.span.extracting(fields.nameRange(at: index))
      guard FieldSyntax.isHopByHop(name), original.firstIndex(named: name) == nil else { continue }
      throw MessageError(
        .invalidHeader, "header \(PlainText.quote(fields.name(at: index)))",
        "a stage must not set a hop-by-hop field")
    }
  }

  /// Applies the rules of `trailer_add` to the document; fields that came with the message may stay.
  private static func checkTrailers(_ fields: HeaderFields, against original: HeaderFields) throws(MessageError) {
    for index in fields.indices {
      let name = fields.buffer.span.extracting(fields.nameRange(at: index))
      guard FieldSyntax.isBarredFromTrailers(name), original.firstIndex(named: name) == nil else { continue }
      throw MessageError(
        .invalidHeader, "trailer \(PlainText.quote(fields.name(at: index)))",
        "this field is not allowed as a trailer")
    }
  }

  private func checkFixedLine(_ method: String, _ url: HTTPURL, _ original: Request) throws(MessageError) {
    guard isLineFixed, method != original.method || url != original.url else { return }
    throw MessageError(.invalidDocument, "document", "this host does not let a stage change method and URL")
  }

  private func checkFixedBody() throws(MessageError) {
    guard isBodyFixed, json["body"] != nil else { return }
    throw MessageError(.invalidDocument, "document", "this host does not let a stage set that body")
  }

  private func applyMarks(to headers: inout HeaderFields) {
    for name in sensitiveNames { headers.mark(named: name.span, .sensitive) }
  }

  private func reported(_ error: MessageError) -> MessageError {
    failure = error
    writer?.report(.invalidDocument, error.description)
    return error
  }
}

extension Body {
  /// Whether the content is the same. Contents of files and streams are not read.
  fileprivate func isSame(as other: Body) -> Bool {
    switch (self, other) {
    case (.bytes(let bytes), .bytes(let others)): bytes == others
    case (.file(let file), .file(let other)): file.path == other.path
    case (.stream, .stream): true
    default: isEmpty && other.isEmpty
    }
  }
}

extension HeaderFields {
  /// Marks all fields with this name. Returns false if there is no such field.
  @discardableResult
  mutating func mark(named name: Span<UInt8>, _ marks: Marks) -> Bool {
    var next = firstIndex(named: name)
    let isThere = next != nil
    while let index = next {
      mark(at: index, marks)
      next = firstIndex(named: name, from: index + 1)
    }
    return isThere
  }
}
