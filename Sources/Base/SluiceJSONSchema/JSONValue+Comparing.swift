import SluiceJSON
import SluiceMessages

/// Values as draft-07 compares them (§4.2.3): numbers by their value, strings by code points, objects without regard to
/// order. `==` of ``JSONValue`` compares spellings.
extension JSONValue {
  func equals(_ other: JSONValue, _ work: inout SchemaWork, depth: Int = 0) throws(JSONError) -> Bool {
    try Self.visit(depth, &work)
    if let order = order(other) { return order == 0 }
    guard kind == other.kind, count == other.count else { return false }
    switch kind {
    case .string: return withStringBytes { mine in other.withStringBytes { mine.elementsEqual($0) } } == true
    case .boolean: return bool == other.bool
    case .array:
      for (mine, other) in zip(elements, other.elements) where try !mine.equals(other, &work, depth: depth + 1) {
        return false
      }
    case .object:
      for (key, mine) in members {
        guard let other = other[key], try mine.equals(other, &work, depth: depth + 1) else { return false }
      }
    default: break
    }
    return true
  }

  /// Values that `equals` calls equal have the same hash.
  func hash(_ work: inout SchemaWork, depth: Int = 0) throws(JSONError) -> Int {
    try Self.visit(depth, &work)
    var hasher = Hasher()
    switch kind {
    case .integer, .real: hasher.combine(number)
    case .string: _ = withStringBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .boolean, .null: hasher.combine(bool)
    case .array: for item in elements { hasher.combine(try item.hash(&work, depth: depth + 1)) }
    case .object:
      // The hashes are added up, because the order of members does not matter.
      var sum = 0
      for (key, item) in members {
        var member = Hasher()
        member.combine(key)
        member.combine(try item.hash(&work, depth: depth + 1))
        sum &+= member.finalize()
      }
      hasher.combine(sum)
    }
    return hasher.finalize()
  }

  private static func visit(_ depth: Int, _ work: inout SchemaWork) throws(JSONError) {
    guard depth <= SchemaLimit.depth else { throw .schemaLimit("value nested too deeply to compare") }
    try work.spend(1)
  }

  /// -1, 0 or 1 if this number is below, equal to or above the other number; nil unless both are numbers. The
  /// comparison is exact and not made in doubles, which cannot hold every 64-bit integer.
  func order(_ other: JSONValue) -> Int? {
    switch (integer, real, other.integer, other.real) {
    case (let mine?, _, let other?, _): mine < other ? -1 : mine > other ? 1 : 0
    case (_, let mine?, _, let other?): mine < other ? -1 : mine > other ? 1 : 0
    case (let mine?, _, _, let other?): Self.order(mine, other)
    case (_, let mine?, let other?, _): -Self.order(other, mine)
    default: nil
    }
  }

  private static func order(_ integer: Int64, _ real: Double) -> Int {
    let floor = real.rounded(.down)
    guard let whole = Int64(exactly: floor) else { return real < 0 ? 1 : -1 }
    if integer == whole { return real > floor ? -1 : 0 }
    return integer < whole ? -1 : 1
  }

  /// Whether this number is a multiple of the divisor; true if one of the two is not a number. 0.0075 counts as a
  /// multiple of 0.0001, although a double represents neither of them exactly.
  func isMultiple(of divisor: JSONValue) -> Bool {
    if let integer, let divisor = divisor.wholeNumber { return integer % divisor == 0 }
    guard let number, let divisor = divisor.number else { return true }
    let quotient = number / divisor
    guard abs(quotient) <= 0x1p52 else { return number.truncatingRemainder(dividingBy: divisor) == 0 }
    return abs(quotient.rounded() * divisor - number) <= 2 * .ulpOfOne * abs(number)
  }

  /// The number as an integer, such as 3 for 3.0; nil if it has a fraction.
  private var wholeNumber: Int64? { integer ?? real.flatMap(Int64.init(exactly:)) }
}

/// Texts of values for messages.
extension JSONValue {
  /// Compact JSON of bounded length.
  var excerpt: String { kind.isContainer && count > 8 ? noun : PlainText.cut(description, limitBytes: 63) }

  /// Like ``excerpt``, but 3.0 is shown as 3.
  var numberExcerpt: String { wholeNumber.map(String.init) ?? excerpt }

  /// The kind of the value, without its content, which may be secret.
  var noun: String {
    switch kind {
    case .object, .array, .integer: "an \(kind.rawValue)"
    case .string: "a string"
    case .real: "a number"
    case .boolean, .null: description
    }
  }
}

extension JSONValue.Kind {
  fileprivate var isContainer: Bool { self == .object || self == .array }
}
