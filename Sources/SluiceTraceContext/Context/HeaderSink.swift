/// What trace headers are written to.
public protocol HeaderSink {
  /// Sets a header, if the rules of the sink allow it.
  /// - Returns: whether the header now says what was given.
  @discardableResult
  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool

  /// Takes out a header that contradicts one that was placed, if the rules of the sink allow it.
  mutating func withdraw(_ name: Span<UInt8>)
}
