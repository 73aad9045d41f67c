import SluiceMessages

/// A `tracestate` whose member `ot` has a sampling threshold, `th` (OpenTelemetry, "TraceState: Probability Sampling").
///
/// The threshold states the sender's sampling rate, from which a backend estimates how many traces were not sampled. If
/// a hop makes a sampling decision that does not follow from the threshold, it must not send the threshold unchanged.
struct OpenTelemetryState: Sendable {
  private static let key = "ot"
  private static let thresholdPrefix = "th:"
  private static let randomPrefix = "rv:"
  /// The number of digits of a random value, and the maximum number of digits of a threshold.
  private static let digits = 14

  /// A trace whose random value (56 bits) is below this number is not sampled. Nil if `th` is not valid.
  let threshold: UInt64?
  /// `rv`, which replaces the random bits of the trace id; nil if it is absent or not valid.
  let randomValue: UInt64?
  /// The state with `th:0`, which says that all traces are sampled.
  let samplingAll: String
  /// The state without `th`; empty if it had nothing else.
  let withoutThreshold: String

  /// - Parameter state: a valid `tracestate`.
  /// - Returns: nil if it has no threshold.
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
    // An empty `th:` is not replaced by `th:0`, because a value of 256 characters has no room for another digit.
    samplingAll =
      text.utf8.count == Self.thresholdPrefix.utf8.count
      ? withoutThreshold : Self.state(["\(Self.thresholdPrefix)0"] + kept, others)
  }

  /// Whether the trace is sampled according to the threshold. Nil if this is unknown: the threshold is not valid, or
  /// there is no random value to compare with it.
  func samples(_ traceID: TraceID, isRandom: Bool) -> Bool? {
    guard let threshold, let random = randomValue ?? (isRandom ? traceID.low & 0xFF_FFFF_FFFF_FFFF : nil) else {
      return nil
    }
    return random >= threshold
  }

  /// Makes the state: the changed member moves to the left, and the other members stay unchanged (W3C Trace Context
  /// level 2 §3.5). A repeated member is left out.
  private static func state(_ fields: [Substring], _ others: [Substring]) -> String {
    let member = fields.isEmpty ? [] : ["\(key)=\(fields.joined(separator: ";"))"]
    return TraceState.valid((member + others.map { String($0) }).joined(separator: ",")) ?? ""
  }

  private static func isOwn(_ member: Substring) -> Bool {
    member.drop { $0 == " " || $0 == "\t" }.hasPrefix("\(key)=")
  }

  /// Reads a threshold, in which senders leave out trailing zeros.
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
