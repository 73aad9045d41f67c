extension HTTPURL {
  /// Reads `[userinfo@]host[:port]` (RFC 3986 §3.2).
  static func authority(
    _ bytes: Span<UInt8>, _ range: Range<Int>, scheme: Origin.Scheme
  ) throws(MessageError) -> (origin: Origin, userInfo: String?) {
    var userInfo: String?
    var start = range.lowerBound
    let at = firstIndex(in: bytes, range) { $0 == UInt8(ascii: "@") }
    if at < range.upperBound {
      userInfo = text(bytes, start..<at)
      start = at + 1
      let second = firstIndex(in: bytes, start..<range.upperBound) { $0 == UInt8(ascii: "@") }
      guard second >= range.upperBound else {
        throw failure(bytes, "has two @ before the path; percent-encode one as %40")
      }
    }
    let hostEnd = try endOfHost(bytes, start..<range.upperBound)
    let (host, hasFinalDot) = try host(bytes, start..<hostEnd)
    let port = try port(bytes, hostEnd..<range.upperBound)
    return (Origin(scheme: scheme, host: host, port: port, hasFinalDot: hasFinalDot), userInfo)
  }

  /// Checks `host[:port]`.
  static func checkHostAndPort(_ bytes: Span<UInt8>) throws(MessageError) {
    let hostEnd = try endOfHost(bytes, 0..<bytes.count)
    _ = try hostKind(bytes, 0..<hostEnd)
    _ = try port(bytes, hostEnd..<bytes.count)
  }

  private static func endOfHost(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> Int {
    guard !range.isEmpty, bytes[range.lowerBound] == UInt8(ascii: "[") else {
      return firstIndex(in: bytes, range) { $0 == UInt8(ascii: ":") }
    }
    let bracket = firstIndex(in: bytes, from: range.lowerBound) { $0 == UInt8(ascii: "]") }
    guard bracket < range.upperBound else { throw failure(bytes, "has a [ without ]") }
    return bracket + 1
  }

  private enum Host {
    case address(IPv6Address)
    /// A name or an IPv4 address, without a final dot.
    case name(Range<Int>, hasFinalDot: Bool)
  }

  private static func host(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(MessageError) -> (host: String, hasFinalDot: Bool) {
    switch try hostKind(bytes, range) {
    case .address(let address): (address.description, false)
    case .name(let name, let hasFinalDot): (lowercased(bytes, name), hasFinalDot)
    }
  }

  /// Checks the host. The final dot of an IPv4 address has no meaning.
  private static func hostKind(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> Host {
    guard !range.isEmpty else { throw failure(bytes, "names no host") }
    if bytes[range.lowerBound] == UInt8(ascii: "[") {
      let inner = range.lowerBound + 1..<range.upperBound - 1
      guard let address = IPv6Address(bytes.extracting(inner)) else {
        throw failure(bytes, "has no IPv6 address between [ and ]; a zone, as in fe80::1%25eth0, is not supported")
      }
      return .address(address)
    }
    guard firstIndex(in: bytes, range, where: { !isHostCharacter($0) }) == range.upperBound else {
      throw failure(bytes, "has a character in its host that is not a letter, digit, dot, hyphen or underscore")
    }
    let isFullyQualified = bytes[range.upperBound - 1] == UInt8(ascii: ".")
    let name = isFullyQualified ? range.lowerBound..<range.upperBound - 1 : range
    guard !name.isEmpty else { throw failure(bytes, "names no host") }
    let lastLabel = try lastLabel(of: bytes, name)
    let isAddress = isNumber(bytes.extracting(lastLabel))
    guard !isAddress || IPv4Address(bytes.extracting(name)) != nil else {
      throw failure(bytes, "has a host that ends in a number but is not an IPv4 address of four decimal numbers")
    }
    return .name(name, hasFinalDot: isFullyQualified && !isAddress)
  }

  /// Checks the labels of a name, and returns where the last one is.
  private static func lastLabel(of bytes: Span<UInt8>, _ name: Range<Int>) throws(MessageError) -> Range<Int> {
    var start = name.lowerBound
    var isTooLong = name.count > maximumHostBytes
    while true {
      let end = firstIndex(in: bytes, start..<name.upperBound) { $0 == UInt8(ascii: ".") }
      guard end > start else { throw failure(bytes, "has a host that begins with a dot or has two dots in a row") }
      isTooLong = isTooLong || end - start > maximumLabelBytes
      guard end < name.upperBound else { break }
      start = end + 1
    }
    guard !isTooLong else {
      throw failure(
        bytes, "has a host of more than \(maximumHostBytes) bytes, or with a label of more than \(maximumLabelBytes)")
    }
    return start..<name.upperBound
  }

  private static func lowercased(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    var name = [UInt8](copying: bytes.extracting(range))
    for index in name.indices { name[index] = name[index].asciiLowercased }
    return String(decoding: name, as: UTF8.self)
  }

  /// RFC 1035 §2.3.4 allows 255 bytes, including one length byte for each label and one for the root.
  private static let maximumHostBytes = 253
  private static let maximumLabelBytes = 63

  /// Whether any reader takes the label as a number. Some read `127.1`, `0x7f.0.0.1`, `0177.0.0.1` and `2130706433` as
  /// `127.0.0.1` too, so a host that ends in a number must be an address of four decimal numbers.
  private static func isNumber(_ label: Span<UInt8>) -> Bool {
    guard firstIndex(in: label, from: 0, where: { $0 < 0x30 || $0 > 0x39 }) < label.count else { return true }
    return label.count >= 2 && label[0] == UInt8(ascii: "0") && label[1].asciiLowercased == UInt8(ascii: "x")
  }

  private static func port(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(MessageError) -> UInt16? {
    guard !range.isEmpty else { return nil }
    guard bytes[range.lowerBound] == UInt8(ascii: ":") else {
      throw failure(bytes, "has something after the ] of its host")
    }
    let digits = range.lowerBound + 1..<range.upperBound
    guard !digits.isEmpty else { return nil }
    var port = 0
    for index in digits {
      let digit = Int(bytes[index]) - 0x30
      port = port * 10 + digit
      guard (0...9).contains(digit), port <= UInt16.max else { throw invalidPort(bytes) }
    }
    guard port > 0 else { throw invalidPort(bytes) }
    return UInt16(port)
  }

  private static func invalidPort(_ bytes: Span<UInt8>) -> MessageError {
    failure(bytes, "has a port that is not a number from 1 to 65535")
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
    String(copying: bytes.extracting(range))
  }

  static func failure(_ bytes: Span<UInt8>, _ reason: String) -> MessageError {
    MessageError(.invalidURL, subject(bytes), reason)
  }
}
