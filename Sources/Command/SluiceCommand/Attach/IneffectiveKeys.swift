import SluiceJSON
import SluiceMessages

/// The keys of a configuration that have no effect in a program, because a program has its own transport.
enum IneffectiveKeys {
  private static let whole: Set<String> = ["deadline", "retry", "redirects", "validate", "control", "watchdog"]
  /// Objects of which only the named members have an effect. These are the base URL, whose origin counts as first party
  /// for trace headers, and the time limit of the trial before the start.
  private static let partly: [String: Set<String>] = ["transport": ["baseURL"], "swap": ["trial"]]
  /// Members that have an effect only for call-outs.
  private static let forCallOuts: [String: Set<String>] = ["transport": ["tls", "userAgent"]]

  /// The keys in the order of the file; empty if the text is not a configuration.
  ///
  /// - Parameter mayCallOut: whether plugins can send call-outs.
  static func of(_ text: [UInt8], mayCallOut: Bool) -> [String] {
    guard let root = try? JSONValue(parsing: text.withoutByteOrderMark) else { return [] }
    return root.members.filter { !$0.value.isNull }.flatMap { key, value in
      if whole.contains(key) { return [key] }
      guard var effective = partly[key] else { return [] }
      if mayCallOut { effective.formUnion(forCallOuts[key] ?? []) }
      return value.members.filter { !$0.value.isNull && !effective.contains($0.key) }.map { "\(key).\($0.key)" }
    }
  }
}
