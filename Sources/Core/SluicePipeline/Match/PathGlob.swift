import SluiceMessages

/// A pattern for a URL's path: `*` matches any characters except a slash, `**` matches any characters, and everything
/// else matches itself.
///
/// Escapes in the pattern are decoded before they are compared: `/%7Ea` is `/~a`, and `/a%2fb` is `/a%2Fb`.
public struct PathGlob: Sendable, Hashable {
  enum Part: Sendable, Hashable {
    case text([UInt8])
    case segment
    case anything
  }

  /// The pattern as it was given, including escapes.
  package let pattern: String
  let parts: [Part]

  /// Takes any text. A pattern that has a `.` or `..` segment matches nothing.
  public init(_ pattern: String) {
    self.pattern = pattern
    var parts: [Part] = []
    var text: [UInt8] = []
    var pattern = pattern
    pattern.makeContiguousUTF8()
    var bytes = PercentCoding.normalized(pattern.utf8.span)[...]
    while let byte = bytes.popFirst() {
      guard byte == UInt8(ascii: "*") else {
        text.append(byte)
        continue
      }
      if !text.isEmpty { parts.append(.text(text)) }
      text = []
      if bytes.first == byte {
        bytes.removeFirst()
        parts.append(.anything)
      } else {
        parts.append(.segment)
      }
    }
    if !text.isEmpty { parts.append(.text(text)) }
    self.parts = parts
  }

  /// Whether the pattern has a `.` or `..` segment. Paths are compared without such segments, so nothing matches.
  package var hasDotSegment: Bool {
    var pattern = pattern
    pattern.makeContiguousUTF8()
    let segments = PercentCoding.normalized(pattern.utf8.span).split(separator: UInt8(ascii: "/"))
    return segments.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
  }

  /// Compares a path as it is spelled. ``StageMatch`` has handled dot segments and escapes before it calls this
  /// function.
  package func matches(_ path: String) -> Bool {
    var path = path
    path.makeContiguousUTF8()
    return matches(path.utf8.span)
  }

  func matches(_ path: Span<UInt8>) -> Bool {
    var start = 0
    var next = 0
    if !parts.isEmpty, case .text(let text) = parts[0] {
      guard Self.has(text, in: path, at: 0) else { return false }
      start = text.count
      next = 1
    }
    // The common case is a text alone, or a text with one star after it.
    guard next < parts.count else { return start == path.count }
    guard next == parts.count - 1 else { return follow(path, from: start, parts: next) }
    if case .anything = parts[next] { return true }
    var index = start
    while index < path.count, path[index] != UInt8(ascii: "/") { index += 1 }
    return index == path.count
  }

  /// Matches part by part, and keeps the set of all positions in the path that the parts so far can reach. So no
  /// pattern takes more than (number of parts) × (number of bytes) steps.
  private func follow(_ path: Span<UInt8>, from start: Int, parts first: Int) -> Bool {
    var reached = PositionSet(upTo: path.count)
    reached[start] = true
    var part = first
    while part < parts.count {
      switch parts[part] {
      case .text(let text): Self.step(over: text, in: path, &reached)
      case .segment: Self.spread(upTo: UInt8(ascii: "/"), in: path, &reached)
      case .anything: Self.spread(upTo: nil, in: path, &reached)
      }
      part += 1
    }
    return reached[path.count]
  }

  /// Moves every position past the text, and drops the positions at which the text does not follow. Begins with the
  /// last position, so that each position is read before it is overwritten.
  private static func step(over text: [UInt8], in path: Span<UInt8>, _ reached: inout PositionSet) {
    var position = path.count
    while position >= 0 {
      let start = position - text.count
      reached[position] = start >= 0 && reached[start] && has(text, in: path, at: start)
      position -= 1
    }
  }

  /// For each position in the set, adds all later positions up to the next byte that equals `stop`. If `stop` is nil,
  /// adds all positions up to the end of the path.
  private static func spread(upTo stop: UInt8?, in path: Span<UInt8>, _ reached: inout PositionSet) {
    var isSpreading = false
    var position = 0
    while position <= path.count {
      isSpreading = isSpreading || reached[position]
      reached[position] = isSpreading
      if position < path.count, path[position] == stop { isSpreading = false }
      position += 1
    }
  }

  private static func has(_ text: [UInt8], in path: Span<UInt8>, at start: Int) -> Bool {
    guard text.count <= path.count - start else { return false }
    var index = 0
    while index < text.count {
      guard path[start + index] == text[index] else { return false }
      index += 1
    }
    return true
  }
}

/// Positions in a path. Positions up to 511 need no allocation.
private struct PositionSet {
  private var near = InlineArray<8, UInt64>(repeating: 0)
  private var far: [UInt64] = []

  init(upTo last: Int) {
    if last >> 6 >= 8 { far = [UInt64](repeating: 0, count: (last >> 6) - 7) }
  }

  subscript(position: Int) -> Bool {
    get {
      let word = position >> 6 < 8 ? near[position >> 6] : far[(position >> 6) - 8]
      return word >> UInt64(position & 63) & 1 == 1
    }
    set {
      let bit: UInt64 = 1 << UInt64(position & 63)
      if position >> 6 < 8 {
        near[position >> 6] = newValue ? near[position >> 6] | bit : near[position >> 6] & ~bit
      } else {
        far[(position >> 6) - 8] = newValue ? far[(position >> 6) - 8] | bit : far[(position >> 6) - 8] & ~bit
      }
    }
  }
}
