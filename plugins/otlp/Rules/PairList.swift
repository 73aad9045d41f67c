import SluiceMessages

/// The list of pairs in `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_EXPORTER_OTLP_HEADERS`: `key=value,key=value`,
/// percent-encoded as in the header `baggage`.
package enum PairList {
  package struct Malformed: Error, Hashable {
    package let reason: String
  }

  /// Reads the pairs, skipping empty members.
  /// - Throws: what is wrong with the first invalid pair.
  package static func read(_ text: String) throws(Malformed) -> [(key: String, value: String)] {
    var pairs: [(key: String, value: String)] = []
    for (index, member) in text.split(separator: ",").enumerated() {
      let member = trimmed(member)
      guard !member.isEmpty else { continue }
      guard let equals = member.firstIndex(of: "=") else {
        throw Malformed(reason: "expected key=value pairs with commas between them; pair \(index + 1) has no \"=\"")
      }
      let value = trimmed(member[member.index(after: equals)...])
      guard let key = decoded(trimmed(member[..<equals])), !key.isEmpty, let value = decoded(value) else {
        throw Malformed(
          reason: "expected key=value pairs; the key or value of pair \(index + 1) is not percent-encoded UTF-8")
      }
      pairs.append((key, value))
    }
    return pairs
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop { $0 == " " || $0 == "\t" }
    guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return start[...end]
  }

  /// Nil if an escape is incomplete, or if the bytes are not UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
