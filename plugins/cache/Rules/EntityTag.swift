/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable {
  /// The tag as it is written in a header.
  package let text: String
  package var isWeak: Bool { text.hasPrefix("W/") }

  /// Nil for an invalid tag, such as one without quotes.
  package init?(_ text: String) {
    let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
    guard opaque.utf8.count >= 2, opaque.first == "\"", opaque.last == "\"" else { return nil }
    guard !opaque.dropFirst().dropLast().contains("\"") else { return nil }
    self.text = text
  }

  private var opaque: Substring { isWeak ? text.dropFirst(2) : text[...] }

  /// Weak comparison: both name the same content, byte by byte or only semantically (§8.8.3.2).
  package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

  /// Strong comparison: both name the same bytes.
  package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && text == other.text }
}

/// The list of `If-None-Match`: `*`, or tags.
package enum EntityTagList: Sendable, Equatable {
  case any
  case tags([EntityTag])

  /// - Parameter values: the field values, in wire order. Invalid tags are ignored, so they match nothing.
  package init(_ values: [String]) {
    if values.contains(where: { $0[...].trimmed == "*" }) {
      self = .any
      return
    }
    self = .tags(values.flatMap(Self.tags))
  }

  package func matchesWeakly(_ tag: EntityTag?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
    }
  }

  /// Splits the tags of a list. A tag can contain commas.
  private static func tags(_ value: String) -> [EntityTag] {
    var tags: [EntityTag] = []
    var current = ""
    var isQuoted = false
    for character in value + "," {
      if character == "\"" { isQuoted.toggle() }
      if character == ",", !isQuoted {
        if let tag = EntityTag(String(current[...].trimmed)) { tags.append(tag) }
        current = ""
      } else {
        current.append(character)
      }
    }
    return tags
  }
}
