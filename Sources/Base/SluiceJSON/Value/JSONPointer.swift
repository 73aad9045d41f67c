import SluiceMessages

/// A path into a JSON value (RFC 6901): a list of keys and indices. The empty list leads to the whole value.
public struct JSONPointer: Hashable, Sendable {
  /// Keys and indices, with `~1` and `~0` decoded.
  public var tokens: [String]

  /// A pointer from unescaped keys and indices; an empty list means the whole value.
  public init(tokens: [String] = []) {
    self.tokens = tokens
  }

  /// Reads `/a/0/b~1c`; nil if the text does not begin with a slash or has a `~` without 0 or 1 after it.
  public init?(_ text: String) {
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
    tokens = []
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
      guard let token = JSONPointer.unescaped(part) else { return nil }
      tokens.append(token)
    }
  }

  /// The pointer to a member or element one level further down. The key or index is given unescaped.
  public func appending(_ token: String) -> JSONPointer {
    JSONPointer(tokens: tokens + [token])
  }

  private static func unescaped(_ part: Substring.UTF8View) -> String? {
    var bytes: [UInt8] = []
    var rest = part.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "~") else {
        bytes.append(byte)
        continue
      }
      switch rest.next() {
      case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONPointer: CustomStringConvertible {
  /// The spelling of RFC 6901, such as `/a/0/b~1c`; empty for the whole value.
  public var description: String {
    tokens.map { "/" + $0.flatMap { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) } }.joined()
  }
}

extension JSONPointer {
  /// The pointer for a message: on one line and of bounded length.
  package var excerpt: String { PlainText.excerpt(description.utf8.span) }
}

extension JSONValue {
  /// The value that a pointer leads to, or nil. An index has no leading zeros; `-` leads nowhere (RFC 6901 §4).
  public func value(at pointer: JSONPointer) -> JSONValue? {
    var value = self
    for token in pointer.tokens {
      guard let next = value.isArray ? value.element(at: token) : value[token] else { return nil }
      value = next
    }
    return value
  }

  private func element(at token: String) -> JSONValue? {
    guard token.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    guard token == "0" || token.utf8.first != UInt8(ascii: "0") else { return nil }
    return Int(token).flatMap { self[$0] }
  }
}
