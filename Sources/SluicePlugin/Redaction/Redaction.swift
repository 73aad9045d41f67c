import SluiceMessages

/// What must not be shown: the secrets in URLs and header fields that are known, and those that are added.
///
/// A redacted value reads `REDACTED`. The query keys are those of OpenTelemetry's conventions for `url.full`. The list is
/// the host's own.
public struct Redaction: Sendable, Hashable {
  private let secrets: SecretList

  public static let placeholder = SecretList.placeholder

  /// The known secrets, and further names of fields and query parameters, all compared without case.
  public init(headers: [String] = [], query: [String] = []) { secrets = SecretList(headers: headers, query: query) }

  /// A field's value as it may be shown.
  public func value(_ value: String, ofHeader name: String) -> String { secrets.value(value, ofHeader: name) }

  /// A URL, absolute or not, as it may be shown: user and password, the values of secret parameters, and the fragment
  /// are gone.
  public func url(_ url: String) -> String { secrets.url(url) }
}
