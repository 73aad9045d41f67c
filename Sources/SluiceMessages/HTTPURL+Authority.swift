extension HTTPURL {
  /// Reads `[userinfo@]host[:port]` (RFC 3986 §3.2).
  static func authority(
    _ bytes: Span<UInt8>, _ range: Range<Int>, scheme: Origin.Scheme
  ) throws(MessageError) -> (origin: Origin, userInfo: String?) {
    var userInfo: String?
    var start = range.lowerBound
    let at = firstIndex(in: bytes, from: start) { $0 == UInt8(ascii: "@") }
    if at < range.upperBound {
      userInfo = text(bytes, start..<at)
      start = at + 1
      let second = firstIndex(in: bytes, from: start) { $0 == UInt8(ascii: "@") }
      guard second >= range.upperBound else {
        throw failure(bytes, "has two @ before the path; percent-encode one as %40")
      }
    }
    let hostEnd = try endOfHost(bytes, start..<range.upperBound)
    let host = try host(bytes, start..<hostEnd)
    let port = try port(bytes, hostEnd..<range.upperBound)
    return (Origin(scheme: scheme, host: host, port: port), userInfo)
  }

  private static func endOfHost(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> Int {
    guard !range.isEmpty, bytes[range.lowerBound] == UInt8(ascii: "[") else {
      return min(firstIndex(in: bytes, from: range.lowerBound) { $0 == UInt8(ascii: ":") }, range.upperBound)
    }
    let bracket = firstIndex(in: bytes, from: range.lowerBound) { $0 == UInt8(ascii: "]") }
    guard bracket < range.upperBound else { throw failure(bytes, "has a [ without ]") }
    return bracket + 1
  }

  private static func host(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> String {
    guard !range.isEmpty else { throw failure(bytes, "names no host") }
    if bytes[range.lowerBound] == UInt8(ascii: "[") {
      let inner = range.lowerBound + 1..<range.upperBound - 1
      guard let address = IPv6Address(bytes.extracting(inner)) else {
        throw failure(bytes, "has no IPv6 address between [ and ]; a zone, as in fe80::1%25eth0, is not supported")
      }
      return address.description
    }
    guard range.allSatisfy({ isHostCharacter(bytes[$0]) }) else {
      throw failure(bytes, "has a character in its host that is not a letter, digit, dot, hyphen or underscore")
    }
    let isFullyQualified = bytes[range.upperBound - 1] == UInt8(ascii: ".")
    let name = isFullyQualified ? range.lowerBound..<range.upperBound - 1 : range
    guard !name.isEmpty else { throw failure(bytes, "names no host") }
    let host = text(bytes, name).lowercased()
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy({ !$0.isEmpty }) else {
      throw failure(bytes, "has two dots in a row, or one first, in its host")
    }
    guard host.utf8.count <= maximumHostBytes, labels.allSatisfy({ $0.count <= maximumLabelBytes }) else {
      throw failure(
        bytes, "has a host of more than \(maximumHostBytes) bytes, or with a label of more than \(maximumLabelBytes)")
    }
    guard let last = labels.last, !isNumber(last) || IPv4Address(bytes.extracting(name)) != nil else {
      throw failure(bytes, "has a host that ends in a number and is no IPv4 address of four decimal numbers")
    }
    return host
  }

  /// RFC 1035 §2.3.4: 255 bytes with the length before each label and the root's.
  private static let maximumHostBytes = 253
  private static let maximumLabelBytes = 63

  /// Whether any reader takes the label as a number. Some read `127.1`, `0x7f.0.0.1`, `0177.0.0.1` and `2130706433` as
  /// `127.0.0.1` too, so a host that ends in a number must be an address of four decimal numbers.
  private static func isNumber(_ label: Substring.UTF8View) -> Bool {
    let isDecimal = label.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    return isDecimal || label.starts(with: "0x".utf8)
  }

  private static func port(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> UInt16? {
    guard !range.isEmpty else { return nil }
    guard bytes[range.lowerBound] == UInt8(ascii: ":") else {
      throw failure(bytes, "has something after the ] of its host")
    }
    let digits = range.lowerBound + 1..<range.upperBound
    guard !digits.isEmpty else { return nil }
    guard digits.allSatisfy({ bytes[$0] >= 0x30 && bytes[$0] <= 0x39 }), let port = UInt16(text(bytes, digits)),
      port > 0
    else { throw failure(bytes, "has a port that is not a number from 1 to 65535") }
    return port
  }

  static func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte.asciiLowercased {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: [UInt8](copying: bytes.extracting(range)), as: UTF8.self)
  }

  static func failure(_ bytes: Span<UInt8>, _ reason: String) -> MessageError {
    MessageError(.invalidURL, subject(bytes), reason)
  }
}
