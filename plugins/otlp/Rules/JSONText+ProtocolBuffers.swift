import SluiceJSON

// Numbers in the JSON form of protocol buffers.
extension JSONText {
  /// Writes a 64-bit number as a string.
  mutating func wide(_ key: String?, _ value: some FixedWidthInteger) { text(key, "\(value)") }

  /// Writes a number; infinite numbers and NaN are written as strings.
  mutating func double(_ key: String?, _ value: Double) {
    guard !value.isFinite else { return real(key, value) }
    text(key, value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
  }
}
