public import SluiceMessages

/// Why a configuration cannot be used: in which file, on which line, at which key, what was found and what was expected.
public struct ConfigurationError: DescribedError, Sendable, Hashable {
  /// The place of the invalid value; for a configuration created in code it has no file and no line.
  public var location: ConfigurationLocation
  /// What is wrong and what was expected.
  public var reason: String
  /// What to do about it, if that is not obvious.
  public var advice: String?

  package init(_ location: ConfigurationLocation, _ reason: String, advice: String? = nil) {
    self.location = location
    self.reason = reason
    self.advice = advice
  }

  /// `sluice.json:12: plugins.auth.deadline: reason; advice`; unknown parts are left out.
  public var description: String { "\(location): \(reason)" + (advice.map { "; \($0)" } ?? "") }
}

/// A place in a configuration: `sluice.json:12: plugins.auth.deadline`.
public struct ConfigurationLocation: Sendable, Hashable, CustomStringConvertible {
  /// The path as it was given; nil for a configuration created in code.
  public var file: String?
  /// Counted from 1.
  public var line: Int?
  /// The keys that lead to the value, joined by dots, with list positions in brackets. Empty for the whole
  /// configuration.
  public var key: String

  /// A place in a file, or, if `file` is nil, in a configuration created in code.
  package init(file: String? = nil, line: Int? = nil, key: String = "") {
    self.file = file
    self.line = line
    self.key = key
  }

  /// File, line and key, as in `sluice.json:12: plugins.auth.deadline`. Without a file, the text begins with
  /// `configuration`.
  public var description: String {
    let place = [file.map(PlainText.path) ?? "configuration", line.map(String.init)].compactMap(\.self).joined(
      separator: ":")
    return key.isEmpty ? place : "\(place): \(PlainText.excerpt(key.utf8.span))"
  }
}
