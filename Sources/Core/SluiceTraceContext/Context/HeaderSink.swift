/// A destination for trace headers.
public protocol HeaderSink {
  /// Sets a header, if the rules of the sink allow it.
  /// - Returns: whether the header now has the given value.
  @discardableResult
  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool

  /// Removes a header that would contradict the headers that were set, if the rules of the sink allow it.
  mutating func withdraw(_ name: Span<UInt8>)
}
