extension HTTPURL {
  /// Parses an absolute URL, or an IRI (RFC 3987), which is converted to a URL: `https://bücher.example/ä` is
  /// `https://xn--bcher-kva.example/%C3%A4`. Both the text and the URL may have at most 65,536 bytes.
  /// - Parameter hosts: converts a non-ASCII host; without an encoder such a host is refused.
  public init(_ string: String, hosts: HostEncoder? = nil) throws(MessageError) {
    var string = string
    string.makeContiguousUTF8()
    let isASCII = try Self.checkCharacters(string.utf8.span)
    try self.init(ascii: isASCII ? string : IRIReference.uri(string, hosts))
  }

  /// - Parameter string: must be contiguous UTF-8, with its characters already checked.
  private init(ascii string: String) throws(MessageError) {
    let bytes = string.utf8.span
    try Self.checkLength(bytes)
    let (scheme, authorityStart) = try Self.scheme(bytes)
    let authorityEnd = Self.firstIndex(in: bytes, from: authorityStart) { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }
    let authority = try Self.authority(bytes, authorityStart..<authorityEnd, scheme: scheme)
    let pathEnd = Self.firstIndex(in: bytes, from: authorityEnd) { $0 == 0x3F || $0 == 0x23 }
    let hasQuery = pathEnd < bytes.count && bytes[pathEnd] == 0x3F
    let queryEnd = Self.firstIndex(in: bytes, from: pathEnd) { $0 == 0x23 }
    self.init(
      string: string, origin: authority.origin, userInfo: authority.userInfo, pathRange: authorityEnd..<pathEnd,
      queryRange: hasQuery ? pathEnd + 1..<queryEnd : nil)
  }

  /// 64 KiB; most servers refuse URLs that are far shorter.
  package static let maximumBytes = 65536

  private static func checkLength(_ bytes: Span<UInt8>) throws(MessageError) {
    guard !bytes.isEmpty else { throw MessageError(.invalidURL, "url", "it is empty; expected http://… or https://…") }
    guard bytes.count <= maximumBytes else {
      throw MessageError(.invalidURL, "url", "it has \(bytes.count) bytes; at most \(maximumBytes) are accepted")
    }
  }

  /// Refuses spaces, controls and backslashes; returns whether everything is ASCII.
  private static func checkCharacters(_ bytes: Span<UInt8>) throws(MessageError) -> Bool {
    try checkLength(bytes)
    var isASCII = true
    for index in bytes.indices {
      let byte = bytes[index]
      isASCII = isASCII && byte < 0x80
      if byte > 0x20, byte != 0x7F, byte != UInt8(ascii: "\\") { continue }
      throw failure(
        bytes, "\(name(Unicode.Scalar(byte))) at offset \(index) is not allowed in a URL; percent-encode it")
    }
    return isASCII
  }

  /// The name of a character for an error message, so that the reader can identify invisible characters too.
  static func name(_ scalar: Unicode.Scalar) -> String {
    switch scalar.value {
    case 0x20: "a space"
    case 0x21..<0x7F: "\"\(scalar)\""
    default: "the character U+" + String(repeating: "0", count: max(0, 4 - hex(scalar).utf8.count)) + hex(scalar)
    }
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16, uppercase: true) }

  private static func scheme(_ bytes: Span<UInt8>) throws(MessageError) -> (Origin.Scheme, Int) {
    let colon = firstIndex(in: bytes, from: 0) { $0 == UInt8(ascii: ":") }
    let isHierarchical = colon + 2 < bytes.count && bytes[colon + 1] == 0x2F && bytes[colon + 2] == 0x2F
    guard colon > 0, isHierarchical else {
      throw MessageError(
        .invalidURL, subject(bytes), "not absolute; expected http://… or https://…")
    }
    let name = bytes.extracting(0..<colon)
    if FieldSyntax.equals(name, "http") { return (.http, colon + 3) }
    if FieldSyntax.equals(name, "https") { return (.https, colon + 3) }
    guard RelativeReference.isScheme(String(copying: name).utf8[...]) else {
      throw failure(
        bytes, "\(PlainText.quote(name)) before :// is not a scheme; expected http://… or https://…")
    }
    throw MessageError(
      .unsupportedScheme, subject(bytes),
      "scheme \(PlainText.quote(name)) is not supported; only http and https are")
  }

  /// The URL for an error message.
  static func subject(_ bytes: Span<UInt8>) -> String { "url \"\(shownReference(bytes))\"" }

  /// A URL or a relative reference, valid or not, for an error message. Two parts are left out: the text before any @,
  /// which could hold a password, and the text after ? or #, which could hold a secret.
  package static func shownReference(_ reference: Span<UInt8>) -> String {
    let start = reference.indices.last { reference[$0] == UInt8(ascii: "@") } ?? 0
    let end = firstIndex(in: reference, from: start) { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    let rest = end < reference.count ? "\(Unicode.Scalar(reference[end]))…" : ""
    return (start > 0 ? "…" : "") + PlainText.excerpt(reference.extracting(start..<end)) + rest
  }

  @inline(__always)
  static func firstIndex(in bytes: Span<UInt8>, from start: Int, where matches: (UInt8) -> Bool) -> Int {
    firstIndex(in: bytes, start..<max(start, bytes.count), where: matches)
  }

  /// The position of the first matching byte; the end of the range if no byte matches.
  @inline(__always)
  static func firstIndex(in bytes: Span<UInt8>, _ range: Range<Int>, where matches: (UInt8) -> Bool) -> Int {
    var index = range.lowerBound
    while index < range.upperBound, !matches(bytes[index]) { index += 1 }
    return index
  }
}
