import SluiceMessages

// Numbers in the JSON form of protocol buffers.
extension JSONText {
  /// 64 bits, which are a string.
  mutating func wide(_ key: String?, _ value: some FixedWidthInteger) { text(key, "\(value)") }

  /// Infinite numbers and NaN are strings.
  mutating func double(_ key: String?, _ value: Double) {
    guard !value.isFinite else { return real(key, value) }
    text(key, value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
  }
}
