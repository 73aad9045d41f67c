/// The content of the B3 headers (github.com/openzipkin/b3-propagation).
public enum B3: Sendable, Hashable {
  case trace(RemoteTrace)
  /// A decision without ids.
  case sampling(SamplingState)

  /// Reads the value of the header `b3`: `{trace id}-{span id}[-{sampling}[-{parent}]]`, or only a sampling state.
  public init(single text: Span<UInt8>) throws(InvalidContext) {
    if text.count == 1 {
      guard let sampling = Self.sampling(text[0]) else { throw .b3("expected 0, 1 or d, or two ids") }
      self = .sampling(sampling)
      return
    }
    var end = 0
    while end < text.count, text[end] != UInt8(ascii: "-") { end += 1 }
    let traceID = try Self.traceID(text, 0..<end, "b3")
    let spanEnd = end + 17
    guard spanEnd <= text.count else { throw .b3("the span id is not 16 lower-case hexadecimal digits") }
    let spanID = try Self.spanID(text, end + 1..<spanEnd, "b3")
    let sampling = try Self.rest(text, spanEnd)
    self = .trace(RemoteTrace(traceID: traceID, spanID: spanID, sampling: sampling))
  }

  /// Reads the part after the span id. The id of the sender's parent span is not used, but it must be well-formed.
  private static func rest(_ text: Span<UInt8>, _ start: Int) throws(InvalidContext) -> SamplingState {
    if start == text.count { return .deferred }
    guard start + 1 < text.count, text[start] == UInt8(ascii: "-"), let sampling = sampling(text[start + 1]) else {
      throw .b3("the sampling state is not -0, -1 or -d")
    }
    if start + 2 == text.count { return sampling }
    guard text.count == start + 19, text[start + 2] == UInt8(ascii: "-"),
      Hexadecimal.number(text, start + 3..<text.count) != nil
    else { throw .b3("the text after the sampling state is not a parent id of 16 digits") }
    return sampling
  }

  private static func sampling(_ byte: UInt8) -> SamplingState? {
    switch byte {
    case UInt8(ascii: "0"): .denied
    case UInt8(ascii: "1"): .accepted
    case UInt8(ascii: "d"): .debug
    default: nil
    }
  }

  /// The character of a state in the header `b3`; nil for `deferred`, because a header without a state means an open
  /// decision.
  static func character(_ sampling: SamplingState) -> UInt8? {
    switch sampling {
    case .deferred: nil
    case .denied: UInt8(ascii: "0")
    case .accepted: UInt8(ascii: "1")
    case .debug: UInt8(ascii: "d")
    }
  }

  /// An id of 64 bits becomes the right half of an id of 128 bits.
  static func traceID(
    _ text: Span<UInt8>, _ range: Range<Int>, _ header: String
  ) throws(InvalidContext) -> TraceID {
    let start = range.lowerBound
    var traceID: TraceID?
    if range.count == 32, let high = Hexadecimal.number(text, start..<start + 16),
      let low = Hexadecimal.number(text, start + 16..<start + 32)
    {
      traceID = TraceID(high: high, low: low)
    } else if range.count == 16, let low = Hexadecimal.number(text, range) {
      traceID = TraceID(high: 0, low: low)
    }
    guard let traceID else {
      throw InvalidContext(header, "the trace id is not 16 or 32 lower-case hexadecimal digits")
    }
    guard !traceID.isZero else { throw InvalidContext(header, "the trace id is zero") }
    return traceID
  }

  static func spanID(_ text: Span<UInt8>, _ range: Range<Int>, _ header: String) throws(InvalidContext) -> UInt64 {
    guard range.count == 16, let spanID = Hexadecimal.number(text, range) else {
      throw InvalidContext(header, "the span id is not 16 lower-case hexadecimal digits")
    }
    guard spanID != 0 else { throw InvalidContext(header, "the span id is zero") }
    return spanID
  }
}

extension InvalidContext {
  fileprivate static func b3(_ reason: String) -> InvalidContext { InvalidContext("b3", reason) }
}
