import SluiceMessages
import SluiceTraceContext

/// What happens to a header that a request already has.
enum ExistingHeaders: String, Sendable, CaseIterable {
  /// The existing header stays, and the stage's header is not sent.
  case keep
  /// The stage's header replaces the existing one.
  case replace
  /// The hop fails, unless both values are equal.
  case refuse
}

/// A sink that also stores the engine's marks of a header. A mark says, for example, that a stage has added the header.
protocol MarkingSink: HeaderSink {
  /// Sets a header, if the rules of the sink allow it.
  /// - Returns: whether the header now has the given value.
  @discardableResult
  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: HeaderFields.Marks) -> Bool
}

extension MarkingSink {
  @discardableResult
  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool { place(name, value, marks: .addedByStage) }
}

/// Writes headers into the headers of a hop, by the rule for headers that already exist.
struct HopHeaders: MarkingSink {
  private(set) var fields: HeaderFields
  let existing: ExistingHeaders
  /// The first header that was refused.
  private(set) var conflict: String?

  init(_ fields: consuming HeaderFields, existing: ExistingHeaders) {
    self.fields = consume fields
    self.existing = existing
  }

  /// Returns the headers, and leaves an empty list.
  mutating func takeFields() -> HeaderFields {
    var taken = HeaderFields()
    swap(&taken, &fields)
    return taken
  }

  @discardableResult
  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: HeaderFields.Marks) -> Bool {
    guard let index = fields.firstIndex(named: name) else {
      fields.append(name, value, marks: marks)
      return true
    }
    switch existing {
    case .keep: return false
    case .replace:
      fields.set(name, to: value, marks: marks)
      return true
    case .refuse:
      if says(index, value) { return true }
      if conflict == nil { conflict = fields.name(at: index) }
      return false
    }
  }

  /// Removes headers that the stage's headers replace.
  mutating func withdraw(_ name: Span<UInt8>) {
    if existing == .replace { fields.remove(named: name) }
  }

  private func says(_ index: Int, _ value: Span<UInt8>) -> Bool {
    let range = fields.valueRange(at: index)
    guard range.count == value.count else { return false }
    for offset in value.indices where fields.buffer[range.lowerBound + offset] != value[offset] { return false }
    return true
  }
}
