import SluiceJSON

/// The keys of a configuration that have no effect in a program, which has a transport of its own.
enum IneffectiveKeys {
  private static let whole: Set<String> = ["deadline", "retry", "redirects", "validate", "control", "watchdog"]
  /// Of these objects, only the members that are named have an effect: the first party of trace headers, and the limit
  /// of the trial before the start.
  private static let partly: [String: Set<String>] = ["transport": ["baseURL"], "swap": ["trial"]]

  /// In the order of the file; empty for a text that is not a configuration.
  static func of(_ text: [UInt8]) -> [String] {
    guard let root = try? JSONValue(parsing: text) else { return [] }
    return root.members.filter { !$0.value.isNull }.flatMap { key, value in
      if whole.contains(key) { return [key] }
      guard let effective = partly[key] else { return [] }
      return value.members.filter { !$0.value.isNull && !effective.contains($0.key) }.map { "\(key).\($0.key)" }
    }
  }
}
