/// The directives of `Cache-Control` (RFC 9111 §5.2), of all its field lines as one list.
///
/// A directive is a name, alone or with an argument: a token or a quoted string. Names are case-insensitive. If a
/// directive is repeated, the first one counts (§4.2.1).
package struct CacheControl: Sendable, Equatable {
  /// The number of seconds in a directive.
  package enum Seconds: Sendable, Equatable {
    case absent
    /// The directive has no valid number. A response that depends on it is stale (§4.2.1).
    case invalid
    case value(Int64)
  }

  private struct Directive: Sendable, Equatable {
    var name: String
    var argument: String?
  }

  private var directives: [Directive] = []

  package init() {}

  /// - Parameter values: the field values, in wire order.
  package init(_ values: [String]) {
    for value in values {
      var scanner = ListScanner(value)
      while let member = scanner.next() {
        guard directives.allSatisfy({ $0.name != member.name }) else { continue }
        directives.append(Directive(name: member.name, argument: member.argument))
      }
    }
  }

  package var isEmpty: Bool { directives.isEmpty }

  /// - Parameter name: the name in lower case.
  package func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

  package func argument(_ name: String) -> String? { directives.first { $0.name == name }?.argument }

  /// The value of the directive, which must be only digits. A number above `largestDelta` counts as `largestDelta`
  /// (§1.2.2).
  package func seconds(_ name: String) -> Seconds {
    guard let directive = directives.first(where: { $0.name == name }) else { return .absent }
    return directive.argument.flatMap(deltaSeconds).map { .value($0) } ?? .invalid
  }

  /// The field names of a directive such as `no-cache="set-cookie"`, in lower case; empty if the directive has no
  /// names.
  package func fieldNames(_ name: String) -> [String] {
    guard let argument = argument(name) else { return [] }
    return argument.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
  }
}

/// Reads `delta-seconds` (RFC 9111 §1.2.2); nil unless the text is only digits.
func deltaSeconds(_ text: String) -> Int64? {
  guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return min(Int64(text) ?? .max, largestDelta)
}

/// The largest number of seconds, about three hundred thousand years. Even in milliseconds, a sum of a few such numbers
/// does not overflow.
private let largestDelta: Int64 = 10_000_000_000_000

/// Splits a list of `name`, `name=token` and `name="quoted"` (RFC 9110 §5.6).
struct ListScanner {
  private let bytes: [UInt8]
  private var index = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The next member that has a name; nil at the end.
  mutating func next() -> (name: String, argument: String?)? {
    while index < bytes.count {
      let name = text { $0 != comma && $0 != equals }
      var argument: String?
      if index < bytes.count, bytes[index] == equals {
        index += 1
        skipSpaces()
        argument = index < bytes.count && bytes[index] == quote ? quoted() : text { $0 != comma }
      }
      skipMember()
      if !name.isEmpty { return (name.lowercased(), argument) }
    }
    return nil
  }

  /// Skips the rest of a member, and the comma.
  private mutating func skipMember() {
    while index < bytes.count, bytes[index] != comma {
      if bytes[index] == quote { _ = quoted() } else { index += 1 }
    }
    index += 1
  }

  private mutating func text(while isIncluded: (UInt8) -> Bool) -> String {
    skipSpaces()
    let start = index
    while index < bytes.count, isIncluded(bytes[index]) { index += 1 }
    var end = index
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// Reads from the opening quote. A string that is not closed extends to the end.
  private mutating func quoted() -> String {
    index += 1
    var content: [UInt8] = []
    while index < bytes.count, bytes[index] != quote {
      if bytes[index] == backslash, index + 1 < bytes.count { index += 1 }
      content.append(bytes[index])
      index += 1
    }
    index += 1
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func skipSpaces() {
    while index < bytes.count, isSpace(bytes[index]) { index += 1 }
  }
}

private let comma = UInt8(ascii: ",")
private let equals = UInt8(ascii: "=")
private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
