import SluiceMessages

// Numbers in the JSON form of protocol buffers.
extension JSONText {
  /// Numbers of 64 bits are strings.
  mutating func wide(_ key: String?, _ value: some FixedWidthInteger) { text(key, "\(value)") }

  /// Infinite numbers and NaN are strings.
  mutating func double(_ key: String?, _ value: Double) {
    guard !value.isFinite else { return real(key, value) }
    text(key, value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
  }
}
