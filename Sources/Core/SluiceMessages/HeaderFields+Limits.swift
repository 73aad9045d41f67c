// The limits for the header fields of a message, and for its trailers, to which stages or a caller add.
extension HeaderFields {
  /// The maximum number of fields. A received head may have as many.
  package static let maximumFields = 4096
  /// The maximum number of bytes of the fields, including their line ends.
  package static let maximumFieldBytes = 256 << 10

  /// Adds one more field at the end. Returns false, and changes nothing, if there is no room for it.
  package mutating func appendWithinLimits(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: Marks = []) -> Bool {
    guard count < Self.maximumFields,
      wireByteCount + name.count + value.count + 4 <= Self.maximumFieldBytes
    else { return false }
    append(name, value, marks: marks)
    return true
  }

  /// Does what ``set(_:to:marks:)`` does. Returns false, and changes nothing, if there is no room for the value. A value
  /// that is not longer than the old one always has room, even in a head that was received with more fields.
  package mutating func setWithinLimits(_ name: Span<UInt8>, to value: Span<UInt8>, marks: Marks = []) -> Bool {
    guard let index = firstIndex(named: name) else { return appendWithinLimits(name, value, marks: marks) }
    let old = entry(at: index)
    if value.count > old.valueCount, wireByteCount + value.count - old.valueCount > Self.maximumFieldBytes {
      return false
    }
    replace(old, at: index, name, value, marks)
    return true
  }

  /// Checks the number and the size of the fields.
  /// - Parameter words: what the fields are, such as "trailers".
  package func validateSize(of words: String) throws(MessageError) {
    guard count <= Self.maximumFields else {
      throw MessageError(.invalidHeader, words, "more than \(Self.maximumFields) \(words); found \(count)")
    }
    guard wireByteCount <= Self.maximumFieldBytes else {
      throw MessageError(
        .invalidHeader, words, "more than \(Self.maximumFieldBytes) bytes of \(words); found \(wireByteCount)")
    }
  }
}
