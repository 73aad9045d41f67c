import SluiceMessages

/// A `traceparent` header of W3C Trace Context level 2 (§2.2): `00-<trace id>-<span id>-<flags>`.
public struct TraceParent: Sendable, Hashable {
  /// The bits that level 2 defines.
  public struct Flags: OptionSet, Sendable, Hashable {
    /// The byte of the flags (§2.2.5).
    public let rawValue: UInt8
    /// Makes flags from all bits, including undefined bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The caller may have recorded the trace.
    public static let sampled = Flags(rawValue: 1)
    /// The right seven bytes of the trace id are random.
    public static let random = Flags(rawValue: 2)
  }

  static let byteCount = 55

  /// The id of the trace, never all zero.
  public var traceID: TraceID
  /// The id of the span, never 0.
  public var spanID: UInt64
  /// Flags from a header contain only the bits ``Flags/sampled`` and ``Flags/random``.
  public var flags: Flags

  /// Makes a value without checks. The caller must not pass an id of 0.
  public init(traceID: TraceID, spanID: UInt64, flags: Flags) {
    self.traceID = traceID
    self.spanID = spanID
    self.flags = flags
  }

  /// Reads the value of a header. For a version above 00, only the part that version 00 defines is read (§4.3).
  public init(_ bytes: Span<UInt8>) throws(InvalidContext) {
    guard bytes.count >= Self.byteCount else { throw .parent("it has fewer than \(Self.byteCount) characters") }
    guard Self.isDash(bytes[2]), Self.isDash(bytes[35]), Self.isDash(bytes[52]) else {
      throw .parent("its fields do not have the lengths of version 00")
    }
    guard let version = Hexadecimal.number(bytes, 0..<2), version != 0xFF else {
      throw .parent("its version is invalid")
    }
    guard bytes.count == Self.byteCount || version > 0 && Self.isDash(bytes[Self.byteCount]) else {
      throw .parent("it is longer than its version allows")
    }
    guard let high = Hexadecimal.number(bytes, 3..<19), let low = Hexadecimal.number(bytes, 19..<35) else {
      throw .parent("the trace id is not 32 lower-case hexadecimal digits")
    }
    traceID = TraceID(high: high, low: low)
    guard !traceID.isZero else { throw .parent("the trace id is zero") }
    guard let spanID = Hexadecimal.number(bytes, 36..<52) else {
      throw .parent("the parent id is not 16 lower-case hexadecimal digits")
    }
    guard spanID != 0 else { throw .parent("the parent id is zero") }
    self.spanID = spanID
    guard let flags = Hexadecimal.number(bytes, 53..<55) else {
      throw .parent("the flags are not two lower-case hexadecimal digits")
    }
    // Undefined bits are not passed on (§2.2.5.3).
    self.flags = Flags(rawValue: UInt8(truncatingIfNeeded: flags)).intersection([.sampled, .random])
  }

  /// The value of the header, in version 00.
  public var value: InlineArray<55, UInt8> {
    var text = InlineArray<55, UInt8>(repeating: UInt8(ascii: "-"))
    var output = text.mutableSpan
    output[0] = UInt8(ascii: "0")
    output[1] = UInt8(ascii: "0")
    traceID.write(to: &output, at: 3)
    Hexadecimal.write(spanID, to: &output, at: 36)
    output[53] = Hexadecimal.digit(flags.rawValue >> 4)
    output[54] = Hexadecimal.digit(flags.rawValue & 15)
    return text
  }

  private static func isDash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") }
}

extension TraceID: CustomStringConvertible {
  /// The id as 32 digits in lower case.
  public var description: String { Self.digits(of: high) + Self.digits(of: low) }

  /// The 16 digits of half a trace id, or of a span id.
  public static func digits(of id: UInt64) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// The 128 bits that all spans of a trace share. They are never all zero.
public struct TraceID: Sendable, Hashable {
  /// The first 16 digits; 0 for an id of 64 bits, as B3 and Datadog allow.
  public var high: UInt64
  /// The last 16 digits.
  public var low: UInt64

  /// Makes an id from its halves. At least one of them must not be 0; this is not checked.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  var isZero: Bool { high | low == 0 }

  /// Writes 32 digits.
  @inline(__always)
  func write(to output: inout MutableSpan<UInt8>, at start: Int) {
    Hexadecimal.write(high, to: &output, at: start)
    Hexadecimal.write(low, to: &output, at: start + 16)
  }
}

extension TraceParent: CustomStringConvertible {
  /// The value of the header in version 00, 55 characters.
  public var description: String { String(copying: value.span) }
}

extension InvalidContext {
  fileprivate static func parent(_ reason: String) -> InvalidContext { InvalidContext("traceparent", reason) }
}
