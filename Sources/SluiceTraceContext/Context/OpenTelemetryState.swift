/// A `tracestate` whose member `ot` has a sampling threshold, `th` (OpenTelemetry, "TraceState: Probability Sampling").
///
/// The threshold says by which rule its sender sampled, so that a sampled trace can be counted for those that were not. Next to
/// another decision it is wrong.
struct OpenTelemetryState: Sendable {
  private static let key = "ot"
  private static let thresholdPrefix = "th:"
  private static let randomPrefix = "rv:"
  /// Of a random value, and the most of a threshold.
  private static let digits = 14

  /// Of 2^56 random values those below it are not sampled; nil where `th` is not valid.
  let threshold: UInt64?
  /// `rv`, which takes the place of the random bits of the trace id; nil where it is absent or not valid.
  let randomValue: UInt64?
  /// The state with `th:0`, which says that all traces are sampled.
  let samplingAll: String
  /// The state without `th`; empty where nothing else is left.
  let withoutThreshold: String

  /// - Parameter state: a valid `tracestate`.
  /// - Returns: nil where it has no threshold.
  init?(_ state: String) {
    guard let value = TraceState.value(of: Self.key, in: state.utf8.span) else { return nil }
    let fields = String(copying: state.utf8.span.extracting(value)).split(separator: ";")
    guard let text = fields.first(where: { $0.hasPrefix(Self.thresholdPrefix) }) else { return nil }
    threshold = Self.threshold(text.dropFirst(Self.thresholdPrefix.count))
    randomValue = fields.first { $0.hasPrefix(Self.randomPrefix) }
      .flatMap { Self.randomValue($0.dropFirst(Self.randomPrefix.count)) }
    let kept = fields.filter { !$0.hasPrefix(Self.thresholdPrefix) }
    let others = state.split(separator: ",", omittingEmptySubsequences: false).filter { !Self.isOwn($0) }
    withoutThreshold = Self.state(kept, others)
    // An empty threshold leaves no room for a digit in a value of 256 characters.
    samplingAll =
      text.utf8.count == Self.thresholdPrefix.utf8.count
      ? withoutThreshold : Self.state(["\(Self.thresholdPrefix)0"] + kept, others)
  }

  /// Whether the threshold says this of a trace; nil where it cannot be told, since nobody says that the id is random.
  func samples(_ traceID: TraceID, isRandom: Bool) -> Bool? {
    guard let threshold, let random = randomValue ?? (isRandom ? traceID.low & 0xFF_FFFF_FFFF_FFFF : nil) else {
      return nil
    }
    return random >= threshold
  }

  /// A member that was changed moves to the left, and the others stay as they are (W3C Trace Context level 2 §3.5). A repeated
  /// one is left out.
  private static func state(_ fields: [Substring], _ others: [Substring]) -> String {
    let member = fields.isEmpty ? [] : ["\(key)=\(fields.joined(separator: ";"))"]
    return TraceState.valid((member + others.map { String($0) }).joined(separator: ",")) ?? ""
  }

  private static func isOwn(_ member: Substring) -> Bool {
    member.drop { $0 == " " || $0 == "\t" }.hasPrefix("\(key)=")
  }

  /// Trailing zeros are left out.
  private static func threshold(_ text: Substring) -> UInt64? {
    let text = String(text)
    guard (1...digits).contains(text.utf8.count) else { return nil }
    return Hexadecimal.number(text.utf8.span, 0..<text.utf8.count).map { $0 << (4 * (digits - text.utf8.count)) }
  }

  private static func randomValue(_ text: Substring) -> UInt64? {
    let text = String(text)
    return text.utf8.count == digits ? Hexadecimal.number(text.utf8.span, 0..<digits) : nil
  }
}
