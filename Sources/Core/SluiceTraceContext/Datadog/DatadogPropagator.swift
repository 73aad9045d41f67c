/// The headers `x-datadog-…`. Values for which W3C Trace Context has no place are kept in the member `dd` of the state,
/// as Datadog's own libraries do. So these values survive services that know only W3C headers.
public struct DatadogPropagator: Propagator {
  /// The name in `OTEL_PROPAGATORS`: `datadog`.
  public static let name = "datadog"
  /// The ids, the priority, the origin and the tags.
  public static let headerNames = [
    Datadog.traceIDHeader, Datadog.parentIDHeader, Datadog.priorityHeader, Datadog.originHeader, Datadog.tagsHeader,
  ]

  /// Makes the propagator, which has no settings and no state.
  public init() {}

  /// Sets both ids. Sets the headers of priority, origin and tags if these exist, otherwise removes them.
  ///
  /// Does nothing without a trace, if the lower half of the trace id is 0, or if the sink keeps another trace id.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    // Datadog's headers cannot express a trace id whose lower half is zero. If the sink keeps another trace id, the
    // headers belong to another trace.
    guard let parent = trace.traceParent, parent.traceID.low != 0,
      headers.place(Datadog.traceIDHeader.utf8.span, String(parent.traceID.low).utf8.span)
    else { return }
    headers.place(Datadog.parentIDHeader.utf8.span, String(parent.spanID).utf8.span)
    let state = trace.state.flatMap { DatadogState($0) } ?? DatadogState()
    let isOpen = trace.sampling == .deferred
    place(Datadog.priorityHeader, isOpen ? "" : String(state.priority(isSampled: trace.isSampled)), &headers)
    place(Datadog.originHeader, state.origin ?? "", &headers)
    place(Datadog.tagsHeader, Self.tags(parent.traceID, state), &headers)
  }

  private func place(_ header: String, _ value: String, _ headers: inout some HeaderSink) {
    if value.isEmpty { headers.withdraw(header.utf8.span) } else { headers.place(header.utf8.span, value.utf8.span) }
  }

  private static func tags(_ traceID: TraceID, _ state: DatadogState) -> String {
    var text = traceID.high == 0 ? "" : "\(Datadog.upperHalfTag)=\(Hexadecimal.text(traceID.high))"
    for tag in state.tags where "\(Datadog.tagPrefix)\(tag.name)" != Datadog.upperHalfTag {
      let part = "\(Datadog.tagPrefix)\(tag.name)=\(tag.value)"
      guard text.utf8.count + part.utf8.count + 1 <= Datadog.maximumTagsBytes else { continue }
      text += text.isEmpty ? part : "," + part
    }
    return text
  }

  /// Reads a trace if both ids are decimal numbers of 64 bits and not 0. If another part is invalid, only that part is
  /// refused.
  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    guard let traceID = carrier.value(of: Datadog.traceIDHeader, &extraction) else { return }
    do throws(InvalidContext) {
      let read = try Datadog(
        traceID: traceID, parentID: carrier.value(of: Datadog.parentIDHeader, &extraction),
        priority: carrier.value(of: Datadog.priorityHeader, &extraction),
        origin: carrier.value(of: Datadog.originHeader, &extraction),
        tags: carrier.value(of: Datadog.tagsHeader, &extraction))
      for refusal in read.refusals { extraction.refuse(refusal) }
      extraction.found(read.trace, by: Self.name)
    } catch { extraction.refuse(error) }
  }
}
