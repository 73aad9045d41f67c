/// Internationalized references (RFC 3987), as URI references (§3.1): the host in A-labels, and every other non-ASCII
/// byte percent-encoded.
enum IRIReference {
  /// Converts a text, absolute or relative, into a URI reference. Characters that no reference may have are refused.
  static func uri(_ text: String, _ hosts: HostEncoder?) throws(MessageError) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var text = text
    text.makeContiguousUTF8()
    if let scalar = text.unicodeScalars.first(where: isRefused) {
      throw HTTPURL.failure(text.utf8.span, "\(HTTPURL.name(scalar)) is not allowed in a URL; take it out")
    }
    return try uri(text.utf8.span, hosts)
  }

  /// Converts bytes into a URI reference. Only the bytes of a host must be UTF-8.
  /// - Parameter encodesSpaces: whether spaces are percent-encoded too.
  static func uri(
    _ reference: Span<UInt8>, _ hosts: HostEncoder?, encodesSpaces: Bool = false
  ) throws(MessageError) -> String {
    let host = hostRange(reference)
    var uri: [UInt8] = []
    uri.reserveCapacity(reference.count)
    for index in reference.indices {
      if index == host.lowerBound, !host.isEmpty { uri += try labels(reference, host, hosts).utf8 }
      if host.contains(index) { continue }
      let byte = reference[index]
      if byte >= 0x80 || encodesSpaces && byte == 0x20 { uri += PercentCoding.octet(byte) } else { uri.append(byte) }
    }
    return String(decoding: uri, as: UTF8.self)
  }

  private static func labels(
    _ reference: Span<UInt8>, _ host: Range<Int>, _ hosts: HostEncoder?
  ) throws(MessageError) -> String {
    let bytes = [UInt8](copying: reference.extracting(host))
    guard let name = String(validating: bytes, as: UTF8.self) else {
      throw failure(reference, String(decoding: bytes, as: UTF8.self), "is not UTF-8")
    }
    guard let hosts else {
      throw failure(
        reference, name, "is not ASCII and is not converted here; write it with A-labels (xn--…)")
    }
    do { return try hosts.labels(of: name) } catch { throw failure(reference, name, error.reason) }
  }

  /// The range of a host that must be converted; empty if there is no host, or an ASCII host.
  ///
  /// The part before the last @ may hold a password, and is never treated as a part of the host.
  private static func hostRange(_ reference: Span<UInt8>) -> Range<Int> {
    guard var start = authorityStart(reference) else { return 0..<0 }
    let authorityEnd = HTTPURL.firstIndex(in: reference, from: start) { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }
    if let at = (start..<authorityEnd).last(where: { reference[$0] == UInt8(ascii: "@") }) { start = at + 1 }
    let end = min(HTTPURL.firstIndex(in: reference, from: start) { $0 == UInt8(ascii: ":") }, authorityEnd)
    let isAddress = start < end && reference[start] == UInt8(ascii: "[")
    let isASCII = (start..<end).allSatisfy { reference[$0] < 0x80 }
    return isAddress || isASCII ? 0..<0 : start..<end
  }

  /// The position after `//`, or `scheme://`.
  private static func authorityStart(_ reference: Span<UInt8>) -> Int? {
    let first = HTTPURL.firstIndex(in: reference, from: 0) { $0 == 0x2F || $0 == 0x3A || $0 == 0x3F || $0 == 0x23 }
    let slashes = first < reference.count && reference[first] == UInt8(ascii: ":") ? first + 1 : 0
    guard slashes + 1 < reference.count, reference[slashes] == 0x2F, reference[slashes + 1] == 0x2F else { return nil }
    return slashes + 2
  }

  /// Control characters, noncharacters, and U+FFFD, which replaces bytes that are not UTF-8: RFC 3987 §2.2 allows none
  /// of these. Direction marks are not allowed either (§4.1).
  private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x80...0x9F, 0xFDD0...0xFDEF, 0xFFF0...0xFFFF: true
    default: scalar.value & 0xFFFE == 0xFFFE || scalar.value >= 0x80 && PlainText.acts(scalar)
    }
  }

  private static func failure(_ reference: Span<UInt8>, _ host: String, _ reason: String) -> MessageError {
    HTTPURL.failure(reference, "its host \"\(PlainText.line(host, limitBytes: 128))\" \(reason)")
  }
}
