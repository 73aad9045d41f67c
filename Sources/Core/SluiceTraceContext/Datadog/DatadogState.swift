import SluiceMessages

/// The member `dd` of a `tracestate`, in which Datadog keeps values for which `traceparent` has no place:
/// `s:2;o:rum;t.dm:-4`.
struct DatadogState: Equatable {
  static let key = "dd"
  private static let maximumBytes = 256

  /// -1 and 2 are decisions of the user, 0 and 1 are decisions of a sampler.
  var priority: Int?
  var origin: String?
  /// The tags, by their names without `_dd.p.`.
  var tags: [(name: String, value: String)] = []

  init() {}

  /// Reads the member `dd` of a `tracestate`; nil if the state has no such member or is invalid.
  init?(_ state: String) {
    guard let value = TraceState.value(of: Self.key, in: state.utf8.span), TraceState.content(state.utf8.span) != nil
    else { return nil }
    for part in String(copying: state.utf8.span.extracting(value)).split(separator: ";") {
      guard let colon = part.firstIndex(of: ":") else { continue }
      let text = String(part[colon...].dropFirst())
      switch part[..<colon] {
      case "s": priority = Int(text).flatMap { (-1...2).contains($0) ? $0 : nil }
      case "o": origin = Self.unescaped(text)
      case let name where name.hasPrefix("t.") && name.count > 2:
        tags.append((String(name.dropFirst(2)), Self.unescaped(text)))
      default: break
      }
    }
  }

  /// The member `dd=…` with as many tags as fit; nil if there is nothing to write.
  var member: String? {
    var parts: [String] = []
    if let priority { parts.append("s:\(priority)") }
    if let origin { parts.append("o:\(Self.escaped(origin))") }
    parts += tags.map { "t.\(Self.escapedName($0.name)):\(Self.escaped($0.value))" }
    var value = ""
    for part in parts where value.utf8.count + part.utf8.count + 1 <= Self.maximumBytes {
      value += value.isEmpty ? part : ";" + part
    }
    return value.isEmpty ? nil : "\(Self.key)=\(value)"
  }

  /// The priority of a hop. A priority that agrees with the hop's decision is kept, so that the user's -1 and 2 stay
  /// distinct from the sampler's 0 and 1.
  func priority(isSampled: Bool) -> Int {
    guard let priority, (priority > 0) == isSampled else { return isSampled ? 1 : 0 }
    return priority
  }

  /// Replaces characters that have a meaning in a state: `=` becomes `~`; a comma, a semicolon or `~` becomes `_`.
  private static func escaped(_ text: String) -> String {
    replacing(text) { byte in
      switch byte {
      case UInt8(ascii: "="): UInt8(ascii: "~")
      case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "~"): UInt8(ascii: "_")
      default: byte
      }
    }
  }

  private static func escapedName(_ text: String) -> String {
    replacing(text) { byte in
      switch byte {
      case UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"): UInt8(ascii: "_")
      default: byte
      }
    }
  }

  private static func unescaped(_ text: String) -> String {
    replacing(text) { $0 == UInt8(ascii: "~") ? UInt8(ascii: "=") : $0 }
  }

  private static func replacing(_ text: String, _ replacement: (UInt8) -> UInt8) -> String {
    String(
      decoding: text.utf8.map { $0 > 0x20 && $0 < 0x7F ? replacement($0) : UInt8(ascii: "_") }, as: UTF8.self)
  }

  static func == (left: DatadogState, right: DatadogState) -> Bool {
    left.priority == right.priority && left.origin == right.origin
      && left.tags.elementsEqual(right.tags) { $0.name == $1.name && $0.value == $1.value }
  }
}
