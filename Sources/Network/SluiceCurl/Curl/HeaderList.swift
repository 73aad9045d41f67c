import CCurl
import SluiceMessages

/// The header lines of one request as libcurl's list. The next request reuses its nodes and text.
///
/// Consecutive fields that libcurl never searches for share one node, whose text contains the line breaks between them.
/// The reason is that libcurl searches its list a dozen times for certain fields, and prints each node separately. With
/// one node per field, this takes more time than all other work on the headers. docs/decisions/header-runs.md has the
/// numbers.
struct HeaderList: ~Copyable {
  private var nodes: UnsafeMutablePointer<curl_slist>?
  private var nodeCapacity = 0
  private var count = 0
  /// The text that the nodes point to. The text of each node has one or more lines, and ends with a NUL.
  private var text: UnsafeMutablePointer<UInt8>?
  private var textCapacity = 0
  private var textCount = 0
  /// Whether a plain field may be added to the last node.
  private var isRunOpen = false

  init() {}

  deinit {
    nodes?.deallocate()
    text?.deallocate()
  }

  /// Fields that libcurl would add by itself, and that must not be sent.
  struct Suppressed: OptionSet {
    let rawValue: UInt8
    /// Without this, libcurl would wait for a 100 response, which costs a round trip, or a second if the server does
    /// not support it.
    static let expect = Suppressed(rawValue: 1)
    /// Without this, libcurl would send every POST with the content type of a form.
    static let contentType = Suppressed(rawValue: 2)
    static let accept = Suppressed(rawValue: 4)
  }

  /// Fields that are sent unless the request has a field of that name. If a value is nil, the field is not sent.
  struct Defaults {
    /// The value of `Accept-Encoding`.
    var codings: String?
    /// The value of `User-Agent`.
    var agent: String?

    /// Returns the default fields without those that the request omits.
    func without(_ omitted: DefaultFields) -> Defaults {
      Defaults(
        codings: omitted.contains(.acceptEncoding) ? nil : codings, agent: omitted.contains(.userAgent) ? nil : agent)
    }
  }

  /// Builds the list in the order of the fields. The result is valid until the next call.
  ///
  /// The list does not contain `Content-Length` and the other fields that frame a message or belong to one connection
  /// (RFC 9110 §7.6.1), because libcurl writes its own.
  mutating func fill(
    _ headers: borrowing HeaderFields, suppressing: Suppressed, defaults: Defaults
  ) -> UnsafeMutablePointer<curl_slist>? {
    count = 0
    textCount = 0
    isRunOpen = false
    // In addition to its text, a field needs at most a line break and a NUL here. This is one byte more than its line
    // takes on the wire.
    let ownBytes = (defaults.codings?.utf8.count ?? 0) + (defaults.agent?.utf8.count ?? 0)
    reserve(nodes: headers.count + 4, bytes: headers.wireByteCount + headers.count + ownBytes)
    if let codings = defaults.codings, !headers.contains("accept-encoding") {
      appendDefault("Accept-Encoding: ", codings)
    }
    if let agent = defaults.agent, !headers.contains("user-agent") { appendDefault("User-Agent: ", agent) }
    var suppressing = suppressing
    for index in headers.indices {
      let bytes = headers.buffer.span
      let name = headers.nameRange(at: index)
      let value = headers.valueRange(at: index)
      let isLeftOut = Self.isLeftOut(bytes.extracting(name), &suppressing)
      if isLeftOut, !headers.marks(at: index).contains(.forProxy) { continue }
      if value.isEmpty {
        appendEmptyValue(bytes.extracting(name))
      } else {
        append(bytes.extracting(name.lowerBound..<value.upperBound), isPlain: Self.isPlain(bytes.extracting(name)))
      }
    }
    if suppressing.contains(.expect) { append("Expect:".utf8.span, isPlain: false) }
    if suppressing.contains(.contentType) { append("Content-Type:".utf8.span, isPlain: false) }
    if suppressing.contains(.accept) { append("Accept:".utf8.span, isPlain: false) }
    return count > 0 ? nodes : nil
  }

  /// Overwrites the text, so that secrets in it do not outlive their request.
  mutating func clear() {
    text?.update(repeating: 0, count: textCount)
    textCount = 0
    guard textCapacity > Self.keptBytes else { return }
    text?.deallocate()
    text = nil
    textCapacity = 0
  }

  /// The size that a handle keeps from one request to the next.
  private static let keptBytes = 16_384

  /// Room for the lines of ``Suppressed``, and for the field names of ``Defaults``.
  private static let ownBytes = 80

  /// Whether the field is left out. If it replaces a default, that default is no longer suppressed.
  private static func isLeftOut(_ name: Span<UInt8>, _ suppressing: inout Suppressed) -> Bool {
    switch name.count {
    case 6 where !suppressing.isEmpty && FieldSyntax.equals(name, "expect"): suppressing.remove(.expect)
    case 6 where !suppressing.isEmpty && FieldSyntax.equals(name, "accept"): suppressing.remove(.accept)
    case 12 where !suppressing.isEmpty && FieldSyntax.equals(name, "content-type"): suppressing.remove(.contentType)
    default: return FieldSyntax.isTransportField(name)
    }
    return false
  }

  /// Whether libcurl never searches for the field. Libcurl searches for only one field that begins with `X-`. It does
  /// so when it signs for AWS, and Sluice never uses that.
  private static func isPlain(_ name: Span<UInt8>) -> Bool {
    if name.count > 2, name[0].asciiLowercased == UInt8(ascii: "x"), name[1] == UInt8(ascii: "-") { return true }
    return switch name.count {
    case 2: FieldSyntax.equals(name, "b3")
    case 7: FieldSyntax.equals(name, "baggage")
    case 10: FieldSyntax.equals(name, "tracestate")
    case 11: FieldSyntax.equals(name, "traceparent")
    default: false
    }
  }

  private mutating func reserve(nodes nodeCount: Int, bytes: Int) {
    if nodeCount > nodeCapacity {
      nodes?.deallocate()
      nodeCapacity = max(16, nodeCount * 2)
      nodes = .allocate(capacity: nodeCapacity)
    }
    if bytes + Self.ownBytes > textCapacity {
      text?.deallocate()
      textCapacity = max(1024, (bytes + Self.ownBytes) * 2)
      text = .allocate(capacity: textCapacity)
    }
  }

  private mutating func append(_ line: Span<UInt8>, isPlain: Bool) {
    openLine(isPlain: isPlain)
    write(line)
    write(0)
  }

  /// Begins a line. If the line may be added to the last node, it continues that node; otherwise it begins a new node.
  private mutating func openLine(isPlain: Bool) {
    if isPlain, isRunOpen {
      // The line break replaces the NUL.
      textCount -= 1
      write(UInt8(ascii: "\r"))
      write(UInt8(ascii: "\n"))
    } else {
      beginNode()
    }
    isRunOpen = isPlain
  }

  /// Adds a default field. Default fields come first, where libcurl would put its own. They share one node, because
  /// libcurl never adds these fields itself.
  private mutating func appendDefault(_ name: StaticString, _ value: String) {
    openLine(isPlain: true)
    name.withUTF8Buffer { write($0.span) }
    write(value.utf8.span)
    write(0)
  }

  /// Adds `Name;`, by which libcurl sends a field with an empty value.
  private mutating func appendEmptyValue(_ name: Span<UInt8>) {
    beginNode()
    isRunOpen = false
    write(name)
    write(UInt8(ascii: ";"))
    write(0)
  }

  /// Adds a node for the text that is written next.
  private mutating func beginNode() {
    guard let nodes, let text else { return }
    let line = UnsafeMutableRawPointer(text + textCount).assumingMemoryBound(to: CChar.self)
    nodes[count] = curl_slist(data: line, next: nil)
    if count > 0 { nodes[count - 1].next = nodes + count }
    count += 1
  }

  private mutating func write(_ byte: UInt8) {
    text?[textCount] = byte
    textCount += 1
  }

  private mutating func write(_ bytes: Span<UInt8>) {
    guard let text else { return }
    bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      (text + textCount).update(from: start, count: source.count)
    }
    textCount += bytes.count
  }
}
