package import SluiceMessages

/// Writes the head of a request (RFC 9112 §3, §5).
///
/// `Host` and the fields that the writer adds come first. The fields of the request follow in their order. Fields that
/// frame a message or belong to one connection (RFC 9110 §7.6.1) are left out, because the writer adds its own.
/// `Expect` is left out if there is no body.
package struct RequestHead {
  /// How the body is framed.
  package enum Framing: Sendable, Hashable {
    /// There is no body, and the method needs no `Content-Length: 0`.
    case none
    case length(Int)
    case chunked
  }

  /// The first field lines of every request to an origin. A line is left out if the request has this field itself, or
  /// if its options omit the field. It is a class, so that passing it on for each request copies only a reference.
  package final class Preamble: Sendable {
    /// The value of `Host`: `example.com`, or `example.com:8080` if the port is not the scheme's default.
    package let host: [UInt8]
    package let defaults: Defaults
    /// The end of the request line, `Host` and the default fields.
    let lines: [UInt8]
    /// What stands before the path of the request target: nothing, or scheme and authority for a proxy (absolute form,
    /// RFC 9112 §3.2.2).
    let targetStart: [UInt8]
    /// The version in the request line, with the blank before it and the line end.
    let version: [UInt8]

    /// Whether the requests go to a proxy, which may need a field ``HeaderFields/Marks/forProxy``.
    var isForProxy: Bool { !targetStart.isEmpty }

    /// - Parameters:
    ///   - isForProxy: whether a proxy gets the requests, and not the origin itself.
    ///   - version: HTTP/1.0 or HTTP/1.1.
    package init(_ origin: Origin, _ defaults: Defaults, isForProxy: Bool = false, version: HTTPVersion = .http11) {
      let name = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
      host = Array((origin.port == origin.scheme.defaultPort ? name : "\(name):\(origin.port)").utf8)
      self.defaults = defaults
      targetStart = isForProxy ? Array("\(origin.scheme.rawValue)://".utf8) + host : []
      self.version = Array((version == .http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n").utf8)
      lines = self.version + Array("Host: ".utf8) + host + Array("\r\n".utf8) + defaults.lines([])
    }
  }

  /// The values of fields that are sent if the request has no field of the same name. A field whose value is nil is not
  /// sent.
  package struct Defaults: Sendable {
    package var accept: String?
    package var codings: String?
    package var agent: String?

    package init(accept: String? = "*/*", codings: String? = nil, agent: String? = nil) {
      self.accept = accept
      self.codings = codings
      self.agent = agent
    }

    /// The lines of these fields, except for the omitted ones.
    func lines(_ omitted: DefaultFields) -> [UInt8] {
      var lines = ""
      if let accept, !omitted.contains(.accept) { lines += "Accept: \(accept)\r\n" }
      if let codings, !omitted.contains(.acceptEncoding) { lines += "Accept-Encoding: \(codings)\r\n" }
      if let agent, !omitted.contains(.userAgent) { lines += "User-Agent: \(agent)\r\n" }
      return Array(lines.utf8)
    }
  }

  /// Facts about the fields of a request.
  package struct Facts: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let hasHost = Facts(rawValue: 1)
    static let hasAccept = Facts(rawValue: 2)
    static let hasCodings = Facts(rawValue: 4)
    static let hasAgent = Facts(rawValue: 8)
    /// The request has a field that replaces a line of the preamble, or a line is left out.
    static let replacing: Facts = [.hasHost, .hasAccept, .hasCodings, .hasAgent, .isParticular]
    /// There is a body, and the request asks for a 100 response before it (RFC 9110 §10.1.1).
    static let expectsContinue = Facts(rawValue: 16)
    /// A field must be left out, or the bytes of a field in the buffer cannot be sent unchanged.
    static let hasExceptions = Facts(rawValue: 32)
    /// The request is about one representation of the resource: it is HEAD, asks for a range, or has a precondition. A
    /// content coding would select another representation, with another length, other ranges and another `ETag` (RFC
    /// 9110 §8.8.3.3), so the transport asks for none by itself.
    static let isParticular = Facts(rawValue: 64)

    /// Whether there is a body, and the request asks for a 100 response before it.
    package var isExpectant: Bool { rawValue & Self.expectsContinue.rawValue != 0 }

    /// The default fields that are not sent, because the request omits them, has these fields itself, or is about one
    /// representation.
    package func omitted(_ omitted: DefaultFields) -> DefaultFields {
      var omitted = omitted
      if contains(.hasAccept) { omitted.insert(.accept) }
      if !isDisjoint(with: [.hasCodings, .isParticular]) { omitted.insert(.acceptEncoding) }
      if contains(.hasAgent) { omitted.insert(.userAgent) }
      return omitted
    }
  }

  /// Appends a head to a buffer.
  ///
  /// - Parameters:
  ///   - url: only path and query are written; for a proxy, also scheme and authority.
  ///   - omitted: default fields that are left out.
  @discardableResult
  package static func append(
    to buffer: inout [UInt8], method: String, url: HTTPURL, _ preamble: Preamble,
    omitting omitted: DefaultFields = [], _ fields: HeaderFields, _ framing: Framing
  ) -> Facts {
    let method = method.utf8.span
    let facts = facts(of: fields, method, framing)
    let target = url.string.utf8.span.extracting(url.targetRange)
    // If the request has its own `Host`, `fields.lineByteCount` includes it.
    let lines = preamble.lines
    let startCount = preamble.targetStart.count
    let bound = method.count + startCount + target.count + lines.count + fields.lineByteCount + fixedBytes
    buffer.append(addingCapacity: bound) { output in
      output.append(copying: method)
      output.append(UInt8(ascii: " "))
      if startCount > 0 {
        let start = preamble.targetStart
        output.append(copying: start.span)
      }
      if target.isEmpty || target[0] != UInt8(ascii: "/") { output.append(UInt8(ascii: "/")) }
      output.append(copying: target)
      if omitted.isEmpty, facts.isDisjoint(with: .replacing) {
        output.append(copying: lines.span)
      } else {
        appendPreamble(to: &output, preamble, omitted, fields, facts)
      }
      if facts.contains(.hasExceptions) || !fields.appendLines(to: &output) {
        appendFields(to: &output, fields, facts, isForProxy: preamble.isForProxy)
      }
      appendFraming(to: &output, framing)
    }
    return facts
  }

  /// An upper bound for the bytes of the other text that the writer adds, including the largest `Content-Length`.
  private static let fixedBytes = 160

  package static func facts(of fields: HeaderFields, _ method: Span<UInt8>, _ framing: Framing) -> Facts {
    // Comparing only the length is fast, and excludes GET.
    var facts: Facts =
      method.count == 4 && method.isIdenticalInContent(to: "HEAD".utf8.span) ? .isParticular : []
    let bytes = fields.buffer.span
    for index in fields.indices {
      let name = bytes.extracting(fields.nameRange(at: index))
      if fields.valueRange(at: index).isEmpty { facts.insert(.hasExceptions) }
      switch name.count {
      case 4 where FieldSyntax.equals(name, "host"): facts.formUnion([.hasHost, .hasExceptions])
      case 6 where FieldSyntax.equals(name, "accept"): facts.insert(.hasAccept)
      case 6 where FieldSyntax.equals(name, "expect"): facts.insert(framing.hasBody ? .expectsContinue : .hasExceptions)
      case 10 where FieldSyntax.equals(name, "user-agent"): facts.insert(.hasAgent)
      case 15 where FieldSyntax.equals(name, "accept-encoding"): facts.insert(.hasCodings)
      default:
        if FieldSyntax.isTransportField(name) { facts.insert(.hasExceptions) }
        if FieldSyntax.selectsRepresentation(name) { facts.insert(.isParticular) }
      }
    }
    return facts
  }

  @inline(never)
  private static func appendPreamble(
    to output: inout OutputSpan<UInt8>, _ preamble: Preamble, _ omitted: DefaultFields,
    _ fields: HeaderFields, _ facts: Facts
  ) {
    let version = preamble.version
    output.append(copying: version.span)
    output.append(text: "Host: ")
    if facts.contains(.hasHost), let index = fields.firstIndex(named: "host".utf8.span) {
      output.append(copying: fields.buffer.span.extracting(fields.valueRange(at: index)))
    } else {
      let host = preamble.host
      output.append(copying: host.span)
    }
    output.append(text: "\r\n")
    output.append(copying: preamble.defaults.lines(facts.omitted(omitted)).span)
  }

  @inline(__always)
  private static func appendFields(
    to output: inout OutputSpan<UInt8>, _ fields: HeaderFields, _ facts: Facts, isForProxy: Bool
  ) {
    let bytes = fields.buffer.span
    for index in fields.indices {
      let nameRange = fields.nameRange(at: index)
      let valueRange = fields.valueRange(at: index)
      let isSent = isForProxy && fields.marks(at: index).contains(.forProxy)
      if !isSent, isLeftOut(bytes.extracting(nameRange), facts) { continue }
      // A field with an empty value has no space after the colon.
      let end = valueRange.isEmpty ? nameRange.upperBound + 1 : valueRange.upperBound
      output.append(lineOf: bytes.extracting(nameRange.lowerBound..<end))
    }
  }

  /// Whether a field is left out when the fields are written.
  @inline(__always)
  package static func isLeftOut(_ name: Span<UInt8>, _ facts: Facts) -> Bool {
    switch name.count {
    case 4: facts.contains(.hasHost) && FieldSyntax.equals(name, "host")
    case 6: !facts.contains(.expectsContinue) && FieldSyntax.equals(name, "expect")
    default: FieldSyntax.isTransportField(name)
    }
  }

  private static func appendFraming(to output: inout OutputSpan<UInt8>, _ framing: Framing) {
    switch framing {
    case .none: output.append(text: "\r\n")
    case .length(let count):
      output.append(text: "Content-Length: ")
      output.append(copying: "\(count)".utf8.span)
      output.append(text: "\r\n\r\n")
    case .chunked: output.append(text: "Transfer-Encoding: chunked\r\n\r\n")
    }
  }
}

extension RequestHead.Framing {
  package var isChunked: Bool {
    if case .chunked = self { true } else { false }
  }

  /// Whether a body of at least one byte follows.
  package var hasBody: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}

extension OutputSpan where Element == UInt8 {
  @inline(__always)
  fileprivate mutating func append(text: StaticString) {
    // Safe because the bytes of a StaticString live as long as the process.
    append(copying: unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount).span)
  }
}
