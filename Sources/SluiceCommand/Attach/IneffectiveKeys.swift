import SluiceJSON

/// The keys of a configuration that have no effect in a program, which has a transport of its own.
enum IneffectiveKeys {
  private static let whole: Set<String> = ["deadline", "retry", "redirects", "validate", "control", "watchdog"]
  /// Of these objects, only the members that are named have an effect: the first party of trace headers, and the limit
  /// of the trial before the start.
  private static let partly: [String: Set<String>] = ["transport": ["baseURL"], "swap": ["trial"]]
  /// Settings for the requests of plugins.
  private static let forCallOuts: [String: Set<String>] = ["transport": ["tls", "userAgent"]]

  /// In the order of the file; empty for a text that is not a configuration.
  ///
  /// - Parameter mayCallOut: whether plugins may send requests.
  static func of(_ text: [UInt8], mayCallOut: Bool) -> [String] {
    guard let root = try? JSONValue(parsing: text) else { return [] }
    return root.members.filter { !$0.value.isNull }.flatMap { key, value in
      if whole.contains(key) { return [key] }
      guard var effective = partly[key] else { return [] }
      if mayCallOut { effective.formUnion(forCallOuts[key] ?? []) }
      return value.members.filter { !$0.value.isNull && !effective.contains($0.key) }.map { "\(key).\($0.key)" }
    }
  }
}
