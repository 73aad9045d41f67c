extension B3 {
  static let traceIDHeader = "X-B3-TraceId"
  static let spanIDHeader = "X-B3-SpanId"
  static let parentSpanIDHeader = "X-B3-ParentSpanId"
  static let sampledHeader = "X-B3-Sampled"
  static let flagsHeader = "X-B3-Flags"

  /// Reads the headers `X-B3-…`. Returns nil if the carrier has none of them.
  static func multi(_ carrier: some Carrier, _ extraction: inout Extraction) -> B3? {
    let refused = extraction.refusals.count
    let traceID = carrier.value(of: traceIDHeader, &extraction)
    let spanID = carrier.value(of: spanIDHeader, &extraction)
    let sampled = carrier.value(of: sampledHeader, &extraction)
    let flags = carrier.value(of: flagsHeader, &extraction)
    guard extraction.refusals.count == refused else { return nil }
    do throws(InvalidContext) {
      return try B3(traceID: traceID, spanID: spanID, sampled: sampled, flags: flags)
    } catch {
      extraction.refuse(error)
      return nil
    }
  }

  /// Reads the values of the headers; nil if all are absent.
  public init?(traceID: String?, spanID: String?, sampled: String?, flags: String?) throws(InvalidContext) {
    let sampling = try Self.sampling(sampled, flags)
    guard traceID != nil || spanID != nil else {
      guard let sampling else { return nil }
      self = .sampling(sampling)
      return
    }
    let trace = traceID ?? ""
    let span = spanID ?? ""
    self = .trace(
      RemoteTrace(
        traceID: try Self.traceID(trace.utf8.span, 0..<trace.utf8.count, Self.traceIDHeader),
        spanID: try Self.spanID(span.utf8.span, 0..<span.utf8.count, Self.spanIDHeader),
        sampling: sampling ?? .deferred))
  }

  /// The sampling state that both headers give. The debug flag means that the trace is sampled, whatever `X-B3-Sampled`
  /// says. Senders that are older than the specification send `true` and `false`.
  private static func sampling(_ sampled: String?, _ flags: String?) throws(InvalidContext) -> SamplingState? {
    if flags == "1" { return .debug }
    switch sampled {
    case nil: return nil
    case "1", "true", "True": return .accepted
    case "0", "false", "False": return .denied
    default: throw InvalidContext(sampledHeader, "expected 0 or 1")
    }
  }
}
