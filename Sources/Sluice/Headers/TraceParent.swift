/// A `traceparent` header of W3C Trace Context level 2 (§2.2): `00-<trace id>-<span id>-<flags>`.
struct TraceParent: Sendable, Hashable {
  /// The bits that level 2 gives a meaning to.
  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// The caller may have recorded the trace.
    static let sampled = Flags(rawValue: 1)
    /// The right seven bytes of the trace id were made at random.
    static let random = Flags(rawValue: 2)
  }

  static let byteCount = 55

  var traceID: TraceID
  /// Never 0.
  var spanID: UInt64
  var flags: Flags

  init(traceID: TraceID, spanID: UInt64, flags: Flags) {
    self.traceID = traceID
    self.spanID = spanID
    self.flags = flags
  }

  /// Reads the value of a header. Of a version above 00 the part that version 00 knows is read (§4.3); nil where it is invalid.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.byteCount, Self.isDash(bytes[2]), Self.isDash(bytes[35]), Self.isDash(bytes[52]),
      let version = Hexadecimal.number(bytes, 0..<2), version != 0xFF,
      bytes.count == Self.byteCount || version > 0 && Self.isDash(bytes[Self.byteCount]),
      let high = Hexadecimal.number(bytes, 3..<19), let low = Hexadecimal.number(bytes, 19..<35), high | low != 0,
      let spanID = Hexadecimal.number(bytes, 36..<52), spanID != 0,
      let flags = Hexadecimal.number(bytes, 53..<55)
    else { return nil }
    traceID = TraceID(high: high, low: low)
    self.spanID = spanID
    // Bits without a meaning are not passed on (§2.2.5.3).
    self.flags = Flags(rawValue: UInt8(truncatingIfNeeded: flags)).intersection([.sampled, .random])
  }

  /// The value of the header, in version 00.
  var value: InlineArray<55, UInt8> {
    var text = InlineArray<55, UInt8>(repeating: UInt8(ascii: "-"))
    var output = text.mutableSpan
    Hexadecimal.write(0, digits: 2, to: &output, at: 0)
    Hexadecimal.write(traceID.high, digits: 16, to: &output, at: 3)
    Hexadecimal.write(traceID.low, digits: 16, to: &output, at: 19)
    Hexadecimal.write(spanID, digits: 16, to: &output, at: 36)
    Hexadecimal.write(UInt64(flags.rawValue), digits: 2, to: &output, at: 53)
    return text
  }

  private static func isDash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") }
}

/// The 128 bits that all spans of a trace share; never all zero.
struct TraceID: Sendable, Hashable {
  var high: UInt64
  var low: UInt64
}
