extension HTTPURL {
  /// Parses an absolute URL; the longest accepted is ``maximumBytes``.
  public init(_ string: String) throws(MessageError) {
    var string = string
    string.makeContiguousUTF8()
    let bytes = string.utf8.span
    try Self.checkCharacters(bytes)
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

  /// 64 KiB; servers refuse far shorter ones.
  public static let maximumBytes = 65536

  private static func checkCharacters(_ bytes: Span<UInt8>) throws(MessageError) {
    guard !bytes.isEmpty else { throw MessageError(.invalidURL, "url", "it is empty; expected http://… or https://…") }
    guard bytes.count <= maximumBytes else {
      throw MessageError(.invalidURL, "url", "it has \(bytes.count) bytes; at most \(maximumBytes) are accepted")
    }
    for index in bytes.indices {
      let byte = bytes[index]
      if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") { continue }
      throw MessageError(
        .invalidURL, subject(bytes),
        "the character at offset \(index) may not stand in a URL; percent-encode it")
    }
  }

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
    throw MessageError(
      .unsupportedScheme, subject(bytes),
      "scheme \"\(HeaderFields.printable(name))\" is not supported; only http and https are")
  }

  /// The URL for an error message: a password could stand before any @, a secret behind the ?, and both are left out.
  static func subject(_ bytes: Span<UInt8>) -> String {
    let start = bytes.indices.last { bytes[$0] == UInt8(ascii: "@") } ?? 0
    let end = firstIndex(in: bytes, from: start) { $0 == UInt8(ascii: "?") }
    let shown = HeaderFields.printable(bytes.extracting(start..<end))
    return "url \"\(start > 0 ? "…" : "")\(shown)\(end < bytes.count ? "?…" : "")\""
  }

  static func firstIndex(in bytes: Span<UInt8>, from start: Int, where matches: (UInt8) -> Bool) -> Int {
    var index = start
    while index < bytes.count, !matches(bytes[index]) { index += 1 }
    return index
  }
}
