package import SluiceMessages

/// The head of a request as it is written (RFC 9112 §3, §5).
///
/// Fields keep their order, after `Host` and the fields that the writer adds. Fields that frame a message or belong to
/// one connection (RFC 9110 §7.6.1) are left out, since the writer adds its own, and `Expect` unless there is a body.
package struct RequestHead {
  /// How the body is framed.
  package enum Framing: Sendable, Hashable {
    /// There is no body, and the method expects none.
    case none
    case length(Int)
    case chunked
  }

  /// The host of an origin, as every request to it has it in `Host`.
  package struct Authority: Sendable, Hashable {
    /// `example.com`, or `example.com:8080` if the port is not the scheme's default.
    package let bytes: [UInt8]

    package init(_ origin: Origin) {
      let name = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
      bytes = Array((origin.port == origin.scheme.defaultPort ? name : "\(name):\(origin.port)").utf8)
    }
  }

  /// Fields that are sent unless the request has a field of that name; nil sends none.
  package struct Defaults: Sendable {
    package var accept: String?
    package var codings: String?
    package var agent: String?

    package init(accept: String? = "*/*", codings: String? = nil, agent: String? = nil) {
      self.accept = accept
      self.codings = codings
      self.agent = agent
    }

    /// Leaves out the fields that a request omits.
    package func without(_ omitted: DefaultFields) -> Defaults {
      guard !omitted.isEmpty else { return self }
      return Defaults(
        accept: omitted.contains(.accept) ? nil : accept, codings: omitted.contains(.acceptEncoding) ? nil : codings,
        agent: omitted.contains(.userAgent) ? nil : agent)
    }
  }

  /// What the writer has found among the fields.
  package struct Facts: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    static let hasHost = Facts(rawValue: 1)
    static let hasAccept = Facts(rawValue: 2)
    static let hasCodings = Facts(rawValue: 4)
    static let hasAgent = Facts(rawValue: 8)
    /// There is a body, and the request asks for a 100 response before it (RFC 9110 §10.1.1).
    package static let expectsContinue = Facts(rawValue: 16)
  }

  /// Appends a head to a buffer.
  ///
  /// - Parameter url: only path and query are written.
  @discardableResult
  package static func append(
    to buffer: inout [UInt8], method: borrowing String, url: borrowing HTTPURL, _ authority: borrowing Authority,
    _ fields: borrowing HeaderFields, _ defaults: borrowing Defaults, _ framing: Framing
  ) -> Facts {
    let facts = facts(of: fields, framing)
    let method = method.utf8.span
    let target = url.string.utf8.span.extracting(url.targetRange)
    let ownBytes =
      (defaults.accept?.utf8.count ?? 0) + (defaults.codings?.utf8.count ?? 0) + (defaults.agent?.utf8.count ?? 0)
    let bound = method.count + target.count + authority.bytes.count + ownBytes + fields.wireByteCount + fixedBytes
    buffer.append(addingCapacity: bound) { output in
      output.append(copying: method)
      output.append(UInt8(ascii: " "))
      if target.isEmpty || target[0] != UInt8(ascii: "/") { output.append(UInt8(ascii: "/")) }
      output.append(copying: target)
      output.append(text: " HTTP/1.1\r\nHost: ")
      appendHost(to: &output, authority, fields, facts)
      appendDefaults(to: &output, defaults, facts)
      for index in fields.indices { appendField(to: &output, fields, at: index, facts) }
      appendFraming(to: &output, framing)
    }
    return facts
  }

  /// The names and line ends that the writer adds, and the longest length of a body.
  private static let fixedBytes = 160

  private static func facts(of fields: borrowing HeaderFields, _ framing: Framing) -> Facts {
    var facts: Facts = []
    for index in fields.indices {
      let range = fields.nameRange(at: index)
      switch range.count {
      case 4 where FieldSyntax.equals(fields.buffer.span.extracting(range), "host"): facts.insert(.hasHost)
      case 6:
        let name = fields.buffer.span.extracting(range)
        if FieldSyntax.equals(name, "accept") { facts.insert(.hasAccept) }
        if framing.hasBody, FieldSyntax.equals(name, "expect") { facts.insert(.expectsContinue) }
      case 10 where FieldSyntax.equals(fields.buffer.span.extracting(range), "user-agent"): facts.insert(.hasAgent)
      case 15 where FieldSyntax.equals(fields.buffer.span.extracting(range), "accept-encoding"):
        facts.insert(.hasCodings)
      default: break
      }
    }
    return facts
  }

  private static func appendHost(
    to output: inout OutputSpan<UInt8>, _ authority: borrowing Authority, _ fields: borrowing HeaderFields,
    _ facts: Facts
  ) {
    if facts.contains(.hasHost), let index = fields.firstIndex(named: "host".utf8.span) {
      output.append(copying: fields.buffer.span.extracting(fields.valueRange(at: index)))
    } else {
      output.append(copying: authority.bytes.span)
    }
    output.append(text: "\r\n")
  }

  private static func appendDefaults(
    to output: inout OutputSpan<UInt8>, _ defaults: borrowing Defaults, _ facts: Facts
  ) {
    if !facts.contains(.hasAccept), let accept = defaults.accept { output.append(field: "Accept: ", accept) }
    if !facts.contains(.hasCodings), let codings = defaults.codings {
      output.append(field: "Accept-Encoding: ", codings)
    }
    if !facts.contains(.hasAgent), let agent = defaults.agent { output.append(field: "User-Agent: ", agent) }
  }

  private static func appendField(
    to output: inout OutputSpan<UInt8>, _ fields: borrowing HeaderFields, at index: Int, _ facts: Facts
  ) {
    let bytes = fields.buffer.span
    let nameRange = fields.nameRange(at: index)
    let valueRange = fields.valueRange(at: index)
    let name = bytes.extracting(nameRange)
    if FieldSyntax.isTransportField(name) { return }
    if nameRange.count == 4, facts.contains(.hasHost), FieldSyntax.equals(name, "host") { return }
    if nameRange.count == 6, !facts.contains(.expectsContinue), FieldSyntax.equals(name, "expect") { return }
    // An empty value: the colon alone, without the space.
    let end = valueRange.isEmpty ? nameRange.upperBound + 1 : valueRange.upperBound
    output.append(copying: bytes.extracting(nameRange.lowerBound..<end))
    output.append(text: "\r\n")
  }

  private static func appendFraming(to output: inout OutputSpan<UInt8>, _ framing: Framing) {
    switch framing {
    case .none: output.append(text: "\r\n")
    case .length(let count): output.append(field: "Content-Length: ", "\(count)", end: "\r\n\r\n")
    case .chunked: output.append(text: "Transfer-Encoding: chunked\r\n\r\n")
    }
  }
}

extension RequestHead.Framing {
  /// Whether a body of at least one byte follows.
  var hasBody: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}

extension OutputSpan where Element == UInt8 {
  fileprivate mutating func append(text: StaticString) {
    // Safe because the bytes of a StaticString live as long as the process.
    append(copying: unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount).span)
  }

  fileprivate mutating func append(field name: StaticString, _ value: String, end: StaticString = "\r\n") {
    append(text: name)
    append(copying: value.utf8.span)
    append(text: end)
  }
}
