import SluiceMessages

/// A value that identifies a representation byte for byte (RFC 9110 §8.8.1), for `If-Range`.
enum StrongValidator: Hashable, Sendable {
  case entityTag(String)
  case lastModified(String)

  /// A modification date is strong only if the response was made at least this long after it. One minute is enough for
  /// clocks that differ (RFC 9110 §8.8.2.2).
  private static let leastSeconds: Int64 = 60

  /// Nil if the response has no strong validator; a weak tag does not identify the bytes.
  init?(_ headers: HeaderFields) {
    if let tag = headers["etag"] {
      guard Self.isStrongTag(tag) else { return nil }
      self = .entityTag(tag)
      return
    }
    let now = HTTPDate(secondsSince1970: 4_000_000_000)
    guard let text = headers["last-modified"], let modified = HTTPDate(text, now: now),
      let made = headers["date"].flatMap({ HTTPDate($0, now: now) }),
      made.secondsSince1970 - modified.secondsSince1970 >= Self.leastSeconds
    else { return nil }
    self = .lastModified(text)
  }

  /// The value for `If-Range` (RFC 9110 §13.1.5).
  var text: String {
    switch self {
    case .entityTag(let tag): tag
    case .lastModified(let date): date
    }
  }

  /// Whether a response can belong to the same representation. That is also possible if the response does not repeat
  /// the validator (RFC 9110 §15.3.7).
  func isCompatible(with headers: HeaderFields) -> Bool {
    switch self {
    case .entityTag(let tag): headers["etag"].map { $0 == tag } ?? true
    case .lastModified(let date): headers["last-modified"].map { $0 == date } ?? true
    }
  }

  /// Whether a tag has the form `"…"`, without the mark of a weak tag (RFC 9110 §8.8.3).
  static func isStrongTag(_ tag: String) -> Bool {
    let bytes = Array(tag.utf8)
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return false }
    return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
  }
}
