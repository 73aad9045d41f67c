/// The content of Datadog's headers. Ids are decimal numbers of 64 bits. The upper half of a trace id of 128 bits is in
/// one of the tags.
struct Datadog {
  static let traceIDHeader = "x-datadog-trace-id"
  static let parentIDHeader = "x-datadog-parent-id"
  static let priorityHeader = "x-datadog-sampling-priority"
  static let originHeader = "x-datadog-origin"
  static let tagsHeader = "x-datadog-tags"
  /// The maximum size of the tags; Datadog's own libraries do not send more.
  static let maximumTagsBytes = 512
  /// The tag with the upper half of the trace id, 16 digits.
  static let upperHalfTag = "_dd.p.tid"
  /// The beginning of the names of tags that are passed on.
  static let tagPrefix = "_dd.p."

  let trace: RemoteTrace
  /// The parts that are left out because they are invalid. The trace continues without these parts.
  private(set) var refusals: [InvalidContext] = []

  /// Reads the values of the headers.
  init(
    traceID: String, parentID: String?, priority: String? = nil, origin: String? = nil, tags: String? = nil
  ) throws(InvalidContext) {
    let low = try Self.number(traceID, Self.traceIDHeader)
    let spanID = try Self.number(parentID ?? "", Self.parentIDHeader)
    var state = DatadogState()
    state.origin = origin.flatMap { $0.isEmpty ? nil : $0 }
    var sampling = SamplingState.deferred
    if let priority {
      if let number = Int(priority), (-1...2).contains(number) {
        state.priority = number
        sampling = number > 0 ? .accepted : .denied
      } else {
        refusals.append(InvalidContext(Self.priorityHeader, "expected -1, 0, 1 or 2"))
      }
    }
    var high: UInt64 = 0
    for (name, value) in Self.tags(tags ?? "", &refusals) {
      guard name == Self.upperHalfTag else {
        state.tags.append((String(name.dropFirst(Self.tagPrefix.count)), value))
        continue
      }
      if value.utf8.count == 16, let number = Hexadecimal.number(value.utf8.span, 0..<16) {
        high = number
      } else {
        refusals.append(
          InvalidContext(Self.tagsHeader, "\(Self.upperHalfTag) is not 16 lower-case hexadecimal digits"))
      }
    }
    trace = RemoteTrace(
      traceID: TraceID(high: high, low: low), spanID: spanID, sampling: sampling, state: state.member)
  }

  private static func number(_ text: String, _ header: String) throws(InvalidContext) -> UInt64 {
    guard let number = Decimal.number(text.utf8.span) else {
      throw InvalidContext(header, "expected a decimal number of 64 bits")
    }
    guard number != 0 else { throw InvalidContext(header, "it is zero") }
    return number
  }

  /// The tags that are passed on, `_dd.p.…`.
  private static func tags(_ text: String, _ refusals: inout [InvalidContext]) -> [(name: String, value: String)] {
    guard text.utf8.count <= maximumTagsBytes else {
      refusals.append(InvalidContext(tagsHeader, "it has more than \(maximumTagsBytes) bytes"))
      return []
    }
    return text.split(separator: ",").compactMap { tag -> (name: String, value: String)? in
      guard let equals = tag.firstIndex(of: "=") else { return nil }
      let name = String(tag[..<equals])
      let value = String(tag[equals...].dropFirst())
      return name.hasPrefix(tagPrefix) && name != tagPrefix && !value.isEmpty ? (name, value) : nil
    }
  }
}
