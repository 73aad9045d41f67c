import SluiceJSON

/// A value of a fact. If it varies between two runs of the old build, only the parts that vary are left out of the
/// comparison.
enum ReplayValue: Sendable, Hashable {
  /// A text that is a whole, or a URL, a query or a JSON document, whose parts are compared one by one.
  case text(String)
  /// The size and the hash of a content. If it varies, its parts cannot be told apart.
  case digest(String)
  /// A wait, in nanoseconds. If it varies, its order of magnitude is compared.
  case delay(UInt64)
  /// Something else in a JSON document, with the name of its kind.
  case scalar(String, String)
  /// Parts with their names. The names are always compared.
  case parts([String], [ReplayValue])

  /// How a value of the new build compares with those of the old build.
  enum Outcome: Int, Comparable {
    case same
    /// A part of the old value varies that may hide a difference.
    case unclear
    case differs

    static func < (left: Outcome, right: Outcome) -> Bool { left.rawValue < right.rawValue }
  }

  static func list(_ values: [ReplayValue]) -> ReplayValue { .parts(values.indices.map { "\($0)" }, values) }

  /// Compares this value of the new build with the values of all runs of the old build.
  func compared(with old: [ReplayValue]) -> Outcome {
    guard let first = old.first else { return .differs }
    guard old.contains(where: { $0 != first }) else { return self == first ? .same : .differs }
    let divided = old.map(\.divided)
    // If only some of the values have parts, this shows in their shapes.
    guard divided.allSatisfy({ $0 == nil }) else {
      return (self.divided ?? self).comparedByParts(with: zip(old, divided).map { $1 ?? $0 })
    }
    return comparedByParts(with: old)
  }

  private func comparedByParts(with old: [ReplayValue]) -> Outcome {
    let shapes = Set(old.map(\.shape))
    guard shapes.contains(shape) else { return .differs }
    guard shapes.count == 1 else { return .unclear }
    switch self {
    case .text, .scalar: return .same
    case .digest: return .unclear
    case .delay(let delay):
      let delays = old.compactMap { if case .delay(let delay) = $0 { max(delay, 1) } else { nil } }
      return delays.allSatisfy { $0 / 10 > delay } || delays.allSatisfy { $0 < delay / 10 } ? .differs : .same
    case .parts(_, let parts):
      return parts.indices.map { index in parts[index].compared(with: old.compactMap { $0.part(at: index) }) }
        .max() ?? .same
    }
  }

  private func part(at index: Int) -> ReplayValue? {
    guard case .parts(_, let parts) = self, parts.indices.contains(index) else { return nil }
    return parts[index]
  }

  /// What is compared even if the value varies: the kind, whether a text is empty, and the names of parts.
  private var shape: [String] {
    switch self {
    case .text(let text): [text.isEmpty ? "empty" : "text"]
    case .digest: ["digest"]
    case .delay: ["delay"]
    case .scalar(let kind, _): ["scalar", kind]
    case .parts(let names, _): ["parts"] + names
    }
  }
}

// The parts of a text.
extension ReplayValue {
  /// Nil if the text has no parts.
  private var divided: ReplayValue? {
    guard case .text(let text) = self else { return nil }
    if text.hasPrefix("{") || text.hasPrefix("[") { return (try? JSONValue(parsing: text)).map { ReplayValue($0) } }
    if let url = Self.url(text) { return url }
    return text.contains("&") && text.split(separator: "&").allSatisfy { $0.contains("=") } ? Self.query(text) : nil
  }

  /// The parts of a JSON document.
  private init(_ document: JSONValue) {
    switch document.kind {
    case .object:
      let members = Array(document.members)
      self = .parts(members.map { "member \($0.0)" }, members.map { ReplayValue($0.1) })
    case .array: self = .list(document.elements.map { ReplayValue($0) })
    case .string: self = .text(document.string ?? "")
    case .integer, .real: self = .scalar("number", "\(document)")
    case .boolean, .null: self = .scalar(document.kind.rawValue, "\(document)")
    }
  }

  /// The scheme, the authority, each segment of the path, each parameter of the query, the fragment, and the hash of a
  /// URL with secrets. Nil if the text is not a URL.
  private static func url(_ text: String) -> ReplayValue? {
    let sent = text.hasSuffix("]") ? text.prefix { $0 != " " } : text[...]
    guard let scheme = sent.firstRange(of: "://"), !sent.contains(" ") else { return nil }
    let hash = text[sent.endIndex...]
    let address = sent[scheme.upperBound...].prefix { $0 != "#" }
    let place = address.prefix { $0 != "?" }
    let segments = place.split(separator: "/", omittingEmptySubsequences: false).map { ReplayValue.text(String($0)) }
    return .parts(
      ["scheme", "authority and path", "query", "fragment", "secrets"],
      [
        .text(String(sent[..<scheme.lowerBound])), .list(segments), query(String(address[place.endIndex...])),
        .text(String(sent[address.endIndex...])), hash.isEmpty ? .text("") : .digest(String(hash)),
      ])
  }

  private static func query(_ text: String) -> ReplayValue {
    let parameters = text.split(separator: "&", omittingEmptySubsequences: false)
    let names = parameters.map { parameter in parameter.prefix { $0 != "=" } }
    // The sign belongs to the name, so that an empty value is an empty text.
    let values = zip(parameters, names).map { $0[$1.endIndex...] }
    return .parts(
      zip(names, values).map { String($0) + String($1.prefix(1)) }, values.map { .text(String($0.dropFirst())) })
  }
}
