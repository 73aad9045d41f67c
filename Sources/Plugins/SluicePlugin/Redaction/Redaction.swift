import SluiceMessages

/// Values that must not be shown: the known secrets in URLs and header fields, and additional ones.
///
/// A redacted value is shown as `REDACTED`. The known query keys come from OpenTelemetry's conventions for `url.full`.
/// The host has the list.
public struct Redaction: Sendable, Hashable {
  private let secrets: Redactor

  /// The text that is shown in place of a secret: `REDACTED`.
  public static let placeholder = Redactor.placeholder

  /// The known secrets, and additional names of fields and query parameters, all case-insensitive.
  public init(headers: [String] = [], query: [String] = []) { secrets = Redactor(headers: headers, query: query) }

  /// The value of a field, redacted if it is secret.
  public func value(_ value: String, ofHeader name: String) -> String { secrets.value(value, ofHeader: name) }

  /// A URL, absolute or not, without user and password, values of secret parameters, and fragment.
  public func url(_ url: String) -> String { secrets.url(url) }
}
